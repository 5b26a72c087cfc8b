#pragma once

#include "keratin/base/export.h"
#include "keratin/losses/regression.h"
#include "keratin/metrics/metric.h"

// Distances and correlations between y_true and y_pred.
namespace keratin::metrics {

struct KERATIN_API LogCoshErrorConfig {
  static constexpr std::string_view keras_name = "LogCoshError";
  static constexpr std::string_view default_name = "logcosh";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const {
    return losses::LogCosh{}.call(y_true, y_pred);
  }
};

// cos of the angle between t and p; the loss of this name is its negative.
struct KERATIN_API CosineSimilarityConfig {
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "CosineSimilarity";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields =
      field_list(field<Written::never>("axis", &CosineSimilarityConfig::axis));
  Value call(Value y_true, Value y_pred) const {
    return losses::cosine_of_angle(y_true, y_pred, axis);
  }
};

// The correlation of t and p along an axis.
struct KERATIN_API PearsonCorrelationConfig {
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "PearsonCorrelation";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields = field_list(field("axis", &PearsonCorrelationConfig::axis));
  Value call(Value y_true, Value y_pred) const;
};

// The same, but smaller if means or variances differ. (Keras 3.15 centres t on the mean of p.)
struct KERATIN_API ConcordanceCorrelationConfig {
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "ConcordanceCorrelation";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields = field_list(field("axis", &ConcordanceCorrelationConfig::axis));
  Value call(Value y_true, Value y_pred) const;
};

struct KERATIN_API RootMeanSquaredErrorConfig {
  static constexpr std::string_view keras_name = "RootMeanSquaredError";
  static constexpr Direction direction = Direction::down;
  static constexpr auto fields = field_list();
};
// √ mean (t - p)²
class KERATIN_API RootMeanSquaredErrorMetric final
    : public MetricOf<RootMeanSquaredErrorMetric, RootMeanSquaredErrorConfig, MeanState> {
 public:
  RootMeanSquaredErrorMetric(RootMeanSquaredErrorConfig config, MetricOptions options);
  void update(Tracer& tracer, const Sample& sample) override;
  Value result(Tracer& tracer) override;
};

struct KERATIN_API R2ScoreConfig {
  // "uniform_average", "variance_weighted_average"; null: one score per output.
  std::optional<std::string> class_aggregation = "uniform_average";
  int64_t num_regressors = 0;  // adjusts the score for this number of independent variables

  static constexpr std::string_view keras_name = "R2Score";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields =
      field_list(field("class_aggregation", &R2ScoreConfig::class_aggregation),
                 field("num_regressors", &R2ScoreConfig::num_regressors));
  void check() const;
};
// 1 - Σ (t - p)² / Σ (t - mean t)², for [batch, outputs]
class KERATIN_API R2ScoreMetric final : public MetricOf<R2ScoreMetric, R2ScoreConfig> {
 public:
  R2ScoreMetric(R2ScoreConfig config, MetricOptions options);
  void update(Tracer& tracer, const Sample& sample) override;
  Value result(Tracer& tracer) override;

 private:
  void make_variables(const Shape& y_true, const Shape& y_pred) override;
  Variable samples_, squared_sum_, sum_, residual_, count_;
};

using MeanSquaredError = SharedMetric<MeanOf<losses::MeanSquaredError>>;
using MeanAbsoluteError = SharedMetric<MeanOf<losses::MeanAbsoluteError>>;
using MeanAbsolutePercentageError = SharedMetric<MeanOf<losses::MeanAbsolutePercentageError>>;
using MeanSquaredLogarithmicError = SharedMetric<MeanOf<losses::MeanSquaredLogarithmicError>>;
using LogCoshError = SharedMetric<MeanOf<LogCoshErrorConfig>>;
using CosineSimilarity = SharedMetric<MeanOf<CosineSimilarityConfig>>;
using PearsonCorrelation = SharedMetric<MeanOf<PearsonCorrelationConfig>>;
using ConcordanceCorrelation = SharedMetric<MeanOf<ConcordanceCorrelationConfig>>;
using RootMeanSquaredError = SharedMetric<RootMeanSquaredErrorMetric>;
using R2Score = SharedMetric<R2ScoreMetric>;

}  // namespace keratin::metrics
