#pragma once

#include "keratin/losses/loss.h"

#pragma GCC visibility push(default)

// Losses between distributions of classes.
namespace keratin::losses {

struct BinaryCrossentropy {
  bool from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;  // averaged over

  static constexpr std::string_view keras_name = "BinaryCrossentropy";
  static constexpr auto fields =
      std::tuple{field("from_logits", &BinaryCrossentropy::from_logits),
                 field("label_smoothing", &BinaryCrossentropy::label_smoothing),
                 field("axis", &BinaryCrossentropy::axis)};
  LossTerms call(Value y_true, Value y_pred) const;
};

struct CategoricalCrossentropy {
  bool from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;  // that of the classes

  static constexpr std::string_view keras_name = "CategoricalCrossentropy";
  static constexpr auto fields =
      std::tuple{field("from_logits", &CategoricalCrossentropy::from_logits),
                 field("label_smoothing", &CategoricalCrossentropy::label_smoothing),
                 field("axis", &CategoricalCrossentropy::axis)};
  LossTerms call(Value y_true, Value y_pred) const;
};

// The truth is the number of a class.
struct SparseCategoricalCrossentropy {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};  // samples of this class do not count
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "SparseCategoricalCrossentropy";
  static constexpr auto fields =
      std::tuple{field("from_logits", &SparseCategoricalCrossentropy::from_logits),
                 field("ignore_class", &SparseCategoricalCrossentropy::ignore_class),
                 field("axis", &SparseCategoricalCrossentropy::axis)};
  LossTerms call(Value y_true, Value y_pred) const;
};

}  // namespace keratin::losses

#pragma GCC visibility pop
