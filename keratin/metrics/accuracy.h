#pragma once

#include "keratin/base/export.h"
#include "keratin/metrics/metric.h"

// How often predictions equal labels.
namespace keratin::metrics {

struct KERATIN_API AccuracyConfig {
  static constexpr std::string_view keras_name = "Accuracy";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields = field_list();
  Value call(Value y_true, Value y_pred) const;
};

struct KERATIN_API BinaryAccuracyConfig {
  double threshold = 0.5;

  static constexpr std::string_view keras_name = "BinaryAccuracy";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields = field_list(field("threshold", &BinaryAccuracyConfig::threshold));
  Value call(Value y_true, Value y_pred) const;
};

// How often the largest prediction is at the true class. Labels are one-hot; class indices for the
// sparse metric.
struct KERATIN_API CategoricalAccuracyConfig {
  static constexpr std::string_view keras_name = "CategoricalAccuracy";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields = field_list();
  Value call(Value y_true, Value y_pred) const;
};

struct KERATIN_API SparseCategoricalAccuracyConfig {
  static constexpr std::string_view keras_name = "SparseCategoricalAccuracy";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields = field_list();
  Value call(Value y_true, Value y_pred) const;
};

// How often the true class is among the k largest predictions; ties count.
struct KERATIN_API TopKCategoricalAccuracyConfig {
  int64_t k = 5;

  static constexpr std::string_view keras_name = "TopKCategoricalAccuracy";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields = field_list(field("k", &TopKCategoricalAccuracyConfig::k));
  Value call(Value y_true, Value y_pred) const;
};

struct KERATIN_API SparseTopKCategoricalAccuracyConfig {
  int64_t k = 5;
  bool from_sorted_ids = false;  // predictions are class indices, best first

  static constexpr std::string_view keras_name = "SparseTopKCategoricalAccuracy";
  static constexpr Direction direction = Direction::up;
  static constexpr auto fields =
      field_list(field("k", &SparseTopKCategoricalAccuracyConfig::k),
                 field<Written::if_changed>("from_sorted_ids",
                                            &SparseTopKCategoricalAccuracyConfig::from_sorted_ids));
  Value call(Value y_true, Value y_pred) const;
};

using Accuracy = SharedMetric<MeanOf<AccuracyConfig>>;
using BinaryAccuracy = SharedMetric<MeanOf<BinaryAccuracyConfig>>;
using CategoricalAccuracy = SharedMetric<MeanOf<CategoricalAccuracyConfig>>;
using SparseCategoricalAccuracy = SharedMetric<MeanOf<SparseCategoricalAccuracyConfig>>;
using TopKCategoricalAccuracy = SharedMetric<MeanOf<TopKCategoricalAccuracyConfig>>;
using SparseTopKCategoricalAccuracy = SharedMetric<MeanOf<SparseTopKCategoricalAccuracyConfig>>;

}  // namespace keratin::metrics
