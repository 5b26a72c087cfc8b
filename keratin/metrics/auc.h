#pragma once

#include "keratin/base/export.h"
#include "keratin/metrics/confusion_matrix.h"

namespace keratin::metrics {

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
