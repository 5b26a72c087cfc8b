#pragma once

#include <limits>

#include "keratin/base/export.h"
#include "keratin/metrics/confusion_matrix.h"

// The maximum of one rate over all thresholds at which another rate is at least some value; 0 if
// there is no such threshold.
namespace keratin::metrics {

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

}  // namespace keratin::metrics
