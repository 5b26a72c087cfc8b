#pragma once

#include "keratin/metrics/metric.h"

#pragma GCC visibility push(default)

// How often predictions equal labels.
namespace keratin::metrics {

struct BinaryAccuracyConfig {
  double threshold = 0.5;

  static constexpr std::string_view keras_name = "BinaryAccuracy";
  static constexpr auto fields = std::tuple{field("threshold", &BinaryAccuracyConfig::threshold)};
  Value call(Value y_true, Value y_pred) const;
};

struct CategoricalAccuracyConfig {
  static constexpr std::string_view keras_name = "CategoricalAccuracy";
  static constexpr std::tuple<> fields{};
  Value call(Value y_true, Value y_pred) const;
};

struct SparseCategoricalAccuracyConfig {
  static constexpr std::string_view keras_name = "SparseCategoricalAccuracy";
  static constexpr std::tuple<> fields{};
  Value call(Value y_true, Value y_pred) const;
};

using BinaryAccuracy = SharedMetric<MeanOf<BinaryAccuracyConfig>>;
using CategoricalAccuracy = SharedMetric<MeanOf<CategoricalAccuracyConfig>>;
using SparseCategoricalAccuracy = SharedMetric<MeanOf<SparseCategoricalAccuracyConfig>>;

}  // namespace keratin::metrics

#pragma GCC visibility pop
