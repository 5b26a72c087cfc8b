#pragma once

#include "keratin/base/export.h"
#include "keratin/losses/classification.h"
#include "keratin/metrics/metric.h"

// Means of losses between distributions, and of margins.
namespace keratin::metrics {

struct KERATIN_API BinaryCrossentropyConfig {
  bool from_logits = false;
  double label_smoothing = 0;

  static constexpr std::string_view keras_name = "BinaryCrossentropy";
  static constexpr auto fields =
      field_list(field("from_logits", &BinaryCrossentropyConfig::from_logits),
                 field("label_smoothing", &BinaryCrossentropyConfig::label_smoothing));
  LossTerms call(Value y_true, Value y_pred) const {
    return losses::BinaryCrossentropy{from_logits, label_smoothing}.call(y_true, y_pred);
  }
};

struct KERATIN_API SparseCategoricalCrossentropyConfig {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "SparseCategoricalCrossentropy";
  static constexpr auto fields =
      field_list(field("from_logits", &SparseCategoricalCrossentropyConfig::from_logits),
                 field("ignore_class", &SparseCategoricalCrossentropyConfig::ignore_class),
                 field("axis", &SparseCategoricalCrossentropyConfig::axis));
  LossTerms call(Value y_true, Value y_pred) const {
    const losses::SparseCategoricalCrossentropy loss{from_logits, ignore_class, axis};
    return loss.call(y_true, y_pred);
  }
};

using BinaryCrossentropy = SharedMetric<MeanOf<BinaryCrossentropyConfig>>;
using CategoricalCrossentropy = SharedMetric<MeanOf<losses::CategoricalCrossentropy>>;
using SparseCategoricalCrossentropy = SharedMetric<MeanOf<SparseCategoricalCrossentropyConfig>>;
using KLDivergence = SharedMetric<MeanOf<losses::KLDivergence>>;
using Poisson = SharedMetric<MeanOf<losses::Poisson>>;
using Hinge = SharedMetric<MeanOf<losses::Hinge>>;
using SquaredHinge = SharedMetric<MeanOf<losses::SquaredHinge>>;
using CategoricalHinge = SharedMetric<MeanOf<losses::CategoricalHinge>>;

}  // namespace keratin::metrics
