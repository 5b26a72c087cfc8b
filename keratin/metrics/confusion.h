#pragma once

#include <limits>

#include "keratin/base/export.h"
#include "keratin/metrics/metric.h"

namespace keratin::metrics {

// Counts of right and wrong decisions at thresholds: predictions above a threshold are positive.
// The user's thresholds, which must be within [0, 1], or the fallback.
KERATIN_API std::vector<double> parse_thresholds(const std::optional<Numbers>& given,
                                                 double fallback = 0.5);
// 0, 1 / (n - 1), …, 1
KERATIN_API std::vector<double> even_thresholds(int64_t count);
// True for 0, 1 / (n - 1), …, 1: then each prediction is counted once, in its interval.
KERATIN_API bool distributed_evenly(const std::vector<double>& thresholds);

// The counts: [thresholds], or [thresholds, labels]. Undefined ones are not computed.
struct ConfusionCounts {
  Variable true_positives = {}, false_positives = {}, true_negatives = {}, false_negatives = {};
};

struct ConfusionOptions {
  std::vector<double> thresholds;
  bool evenly = false;
  std::optional<int64_t> top_k = {};     // only the largest of the last axis can be positive
  std::optional<int64_t> class_id = {};  // only this class counts
  bool multi_label = false;              // labels are counted separately
  std::vector<double> label_weights = {};
};

// Adds a batch. Masks are ignored, as in Keras.
KERATIN_API void add_confusion(Tracer& tracer, const ConfusionCounts& counts, const Sample& sample,
                               const ConfusionOptions& options);

// Metrics of decisions at thresholds. The result is a number for one threshold, a vector for
// several.
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

// The maximum of one rate over all thresholds at which another rate is at least some value; 0 if
// there is no such threshold.
enum class Rate : uint8_t { sensitivity, specificity, precision };  // sensitivity is recall

// The config names both rates, `best` and `bounded`; its first field is the lower bound.
template <class Config>
class KERATIN_API BestAt final : public MetricOf<BestAt<Config>, Config> {
 public:
  BestAt(Config config, MetricOptions options);
  void update(Tracer& tracer, const Sample& sample) override;
  Value result(Tracer& tracer) override;

 private:
  ConfusionOptions options_of_counts_;
  ConfusionCounts counts_;
};

inline constexpr double required = std::numeric_limits<double>::quiet_NaN();

struct KERATIN_API SensitivityAtSpecificityConfig {
  double specificity = required;
  int64_t num_thresholds = 200;
  std::optional<int64_t> class_id = {};

  static constexpr std::string_view keras_name = "SensitivityAtSpecificity";
  static constexpr Direction direction = Direction::up;
  static constexpr Rate best = Rate::sensitivity, bounded = Rate::specificity;
  static constexpr auto fields =
      field_list(field("specificity", &SensitivityAtSpecificityConfig::specificity),
                 field("num_thresholds", &SensitivityAtSpecificityConfig::num_thresholds),
                 field("class_id", &SensitivityAtSpecificityConfig::class_id));
};

struct KERATIN_API SpecificityAtSensitivityConfig {
  double sensitivity = required;
  int64_t num_thresholds = 200;
  std::optional<int64_t> class_id = {};

  static constexpr std::string_view keras_name = "SpecificityAtSensitivity";
  static constexpr Direction direction = Direction::up;
  static constexpr Rate best = Rate::specificity, bounded = Rate::sensitivity;
  static constexpr auto fields =
      field_list(field("sensitivity", &SpecificityAtSensitivityConfig::sensitivity),
                 field("num_thresholds", &SpecificityAtSensitivityConfig::num_thresholds),
                 field("class_id", &SpecificityAtSensitivityConfig::class_id));
};

struct KERATIN_API PrecisionAtRecallConfig {
  double recall = required;
  int64_t num_thresholds = 200;
  std::optional<int64_t> class_id = {};

  static constexpr std::string_view keras_name = "PrecisionAtRecall";
  static constexpr Direction direction = Direction::up;
  static constexpr Rate best = Rate::precision, bounded = Rate::sensitivity;
  static constexpr auto fields =
      field_list(field("recall", &PrecisionAtRecallConfig::recall),
                 field("num_thresholds", &PrecisionAtRecallConfig::num_thresholds),
                 field("class_id", &PrecisionAtRecallConfig::class_id));
};

struct KERATIN_API RecallAtPrecisionConfig {
  double precision = required;
  int64_t num_thresholds = 200;
  std::optional<int64_t> class_id = {};

  static constexpr std::string_view keras_name = "RecallAtPrecision";
  static constexpr Direction direction = Direction::up;
  static constexpr Rate best = Rate::sensitivity, bounded = Rate::precision;
  static constexpr auto fields =
      field_list(field("precision", &RecallAtPrecisionConfig::precision),
                 field("num_thresholds", &RecallAtPrecisionConfig::num_thresholds),
                 field("class_id", &RecallAtPrecisionConfig::class_id));
};

extern template class BestAt<SensitivityAtSpecificityConfig>;
extern template class BestAt<SpecificityAtSensitivityConfig>;
extern template class BestAt<PrecisionAtRecallConfig>;
extern template class BestAt<RecallAtPrecisionConfig>;

using SensitivityAtSpecificity = SharedMetric<BestAt<SensitivityAtSpecificityConfig>>;
using SpecificityAtSensitivity = SharedMetric<BestAt<SpecificityAtSensitivityConfig>>;
using PrecisionAtRecall = SharedMetric<BestAt<PrecisionAtRecallConfig>>;
using RecallAtPrecision = SharedMetric<BestAt<RecallAtPrecisionConfig>>;

struct KERATIN_API AUCConfig {
  int64_t num_thresholds = 200;
  std::string curve = "ROC";                           // or "PR", "PRGAIN"
  std::string summation_method = "interpolation";      // or "minoring", "majoring"
  std::optional<std::vector<double>> thresholds = {};  // between 0 and 1, instead of num_thresholds
  bool multi_label = false;                            // one curve for each label
  std::optional<int64_t> num_labels = {};
  std::optional<Numbers> label_weights = {};
  bool from_logits = false;

  static constexpr std::string_view keras_name = "AUC";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields = field_list(
      field("num_thresholds", &AUCConfig::num_thresholds), field("curve", &AUCConfig::curve),
      field("summation_method", &AUCConfig::summation_method),
      field<Written::if_changed>("thresholds", &AUCConfig::thresholds),
      field("multi_label", &AUCConfig::multi_label), field("num_labels", &AUCConfig::num_labels),
      field("label_weights", &AUCConfig::label_weights),
      field("from_logits", &AUCConfig::from_logits));
};

// The area under a curve of rates, as a sum over thresholds.
class KERATIN_API AUCMetric final : public MetricOf<AUCMetric, AUCConfig> {
 public:
  AUCMetric(AUCConfig config, MetricOptions options);
  void update(Tracer& tracer, const Sample& sample) override;
  Value result(Tracer& tracer) override;

 private:
  struct Counts {
    Value tp, fp, tn, fn;
  };
  void make_variables(const Shape& y_true, const Shape& y_pred) override;
  void add_counts(const Shape& shape);
  Value under_precision_recall(const Counts& counts) const;
  Value under_curve(const Counts& counts) const;
  Value over_labels(Value areas) const;

  ConfusionOptions options_of_counts_;
  ConfusionCounts counts_;
};

using AUC = SharedMetric<AUCMetric>;

}  // namespace keratin::metrics
