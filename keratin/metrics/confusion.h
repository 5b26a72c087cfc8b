#pragma once

#include "keratin/base/export.h"
#include "keratin/metrics/confusion_matrix.h"

// Metrics of decisions at thresholds. The result is a number for one threshold, a vector for
// several.
namespace keratin::metrics {

// One of the four counts.
template <class Config>
class KERATIN_API ConfusionCount final : public MetricOf<ConfusionCount<Config>, Config> {
 public:
  ConfusionCount(Config config, MetricOptions options);
  void update(Tracer& tracer, const Sample& sample) override;
  Value result(Tracer& tracer) override;

 private:
  ConfusionOptions options_of_counts_;
  ConfusionCounts counts_;
};

struct KERATIN_API TruePositivesConfig {
  std::optional<Numbers> thresholds = {};  // default: 0.5
  static constexpr std::string_view keras_name = "TruePositives";
  static constexpr auto counted = &ConfusionCounts::true_positives;
  static constexpr auto fields = field_list(field("thresholds", &TruePositivesConfig::thresholds));
};
struct KERATIN_API FalsePositivesConfig {
  std::optional<Numbers> thresholds = {};
  static constexpr std::string_view keras_name = "FalsePositives";
  static constexpr auto counted = &ConfusionCounts::false_positives;
  static constexpr auto fields = field_list(field("thresholds", &FalsePositivesConfig::thresholds));
};
struct KERATIN_API TrueNegativesConfig {
  std::optional<Numbers> thresholds = {};
  static constexpr std::string_view keras_name = "TrueNegatives";
  static constexpr auto counted = &ConfusionCounts::true_negatives;
  static constexpr auto fields = field_list(field("thresholds", &TrueNegativesConfig::thresholds));
};
struct KERATIN_API FalseNegativesConfig {
  std::optional<Numbers> thresholds = {};
  static constexpr std::string_view keras_name = "FalseNegatives";
  static constexpr auto counted = &ConfusionCounts::false_negatives;
  static constexpr auto fields = field_list(field("thresholds", &FalseNegativesConfig::thresholds));
};

// true positives / (true positives + others), at thresholds or among the top k.
template <class Config>
class KERATIN_API RateOf final : public MetricOf<RateOf<Config>, Config> {
 public:
  RateOf(Config config, MetricOptions options);
  void update(Tracer& tracer, const Sample& sample) override;
  Value result(Tracer& tracer) override;

 private:
  ConfusionOptions options_of_counts_;
  ConfusionCounts counts_;
};

// The share of true positives among predicted positives.
struct KERATIN_API PrecisionConfig {
  std::optional<Numbers> thresholds = {};  // default: 0.5; none with top_k
  std::optional<int64_t> top_k = {};
  std::optional<int64_t> class_id = {};

  static constexpr std::string_view keras_name = "Precision";
  static constexpr Direction direction = Direction::up;
  static constexpr auto others = &ConfusionCounts::false_positives;
  static constexpr auto fields = field_list(field("thresholds", &PrecisionConfig::thresholds),
                                            field("top_k", &PrecisionConfig::top_k),
                                            field("class_id", &PrecisionConfig::class_id));
};
// The share of true positives among all positives.
struct KERATIN_API RecallConfig {
  std::optional<Numbers> thresholds = {};
  std::optional<int64_t> top_k = {};
  std::optional<int64_t> class_id = {};

  static constexpr std::string_view keras_name = "Recall";
  static constexpr Direction direction = Direction::up;
  static constexpr auto others = &ConfusionCounts::false_negatives;
  static constexpr auto fields =
      field_list(field("thresholds", &RecallConfig::thresholds),
                 field("top_k", &RecallConfig::top_k), field("class_id", &RecallConfig::class_id));
};

extern template class ConfusionCount<TruePositivesConfig>;
extern template class ConfusionCount<FalsePositivesConfig>;
extern template class ConfusionCount<TrueNegativesConfig>;
extern template class ConfusionCount<FalseNegativesConfig>;
extern template class RateOf<PrecisionConfig>;
extern template class RateOf<RecallConfig>;

using TruePositives = SharedMetric<ConfusionCount<TruePositivesConfig>>;
using FalsePositives = SharedMetric<ConfusionCount<FalsePositivesConfig>>;
using TrueNegatives = SharedMetric<ConfusionCount<TrueNegativesConfig>>;
using FalseNegatives = SharedMetric<ConfusionCount<FalseNegativesConfig>>;
using Precision = SharedMetric<RateOf<PrecisionConfig>>;
using Recall = SharedMetric<RateOf<RecallConfig>>;

}  // namespace keratin::metrics
