#pragma once

#include "keratin/base/export.h"
#include "keratin/metrics/metric.h"

// Weighted harmonic means of precision and recall, for [batch, classes].
namespace keratin::metrics {

struct KERATIN_API FBetaScoreConfig {
  // "micro", "macro", "weighted"; null: one score per class.
  std::optional<std::string> average = {};
  double beta = 1;                       // recall weighs beta times as much as precision
  std::optional<double> threshold = {};  // default: the largest of a row is positive

  static constexpr std::string_view keras_name = "FBetaScore";
  static constexpr std::string_view default_name = "fbeta_score";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields = field_list(field("average", &FBetaScoreConfig::average),
                                            field("beta", &FBetaScoreConfig::beta),
                                            field("threshold", &FBetaScoreConfig::threshold));
  const FBetaScoreConfig& settings() const { return *this; }
};

struct KERATIN_API F1ScoreConfig {
  std::optional<std::string> average = {};
  std::optional<double> threshold = {};

  static constexpr std::string_view keras_name = "F1Score";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields = field_list(field("average", &F1ScoreConfig::average),
                                            field("threshold", &F1ScoreConfig::threshold));
  FBetaScoreConfig settings() const { return {.average = average, .threshold = threshold}; }
};

// (1 + β²) · precision · recall / (β² · precision + recall)
class KERATIN_API FScoreState : public MetricState {
 public:
  void update(Tracer& tracer, const Sample& sample) override;
  Value result(Tracer& tracer) override;

 protected:
  using MetricState::MetricState;
  void start(FBetaScoreConfig settings);

 private:
  void make_variables(const Shape& y_true, const Shape& y_pred) override;
  FBetaScoreConfig settings_;
  Variable true_positives_, false_positives_, false_negatives_, weights_;
};

template <class Config>
class KERATIN_API FScoreOf final : public MetricOf<FScoreOf<Config>, Config, FScoreState> {
 public:
  FScoreOf(Config config, MetricOptions options)
      : MetricOf<FScoreOf<Config>, Config, FScoreState>(std::move(config), std::move(options)) {
    this->start(this->cfg.settings());
  }
};

using FBetaScore = SharedMetric<FScoreOf<FBetaScoreConfig>>;
using F1Score = SharedMetric<FScoreOf<F1ScoreConfig>>;

}  // namespace keratin::metrics
