#pragma once

#include "keratin/losses/loss.h"

#pragma GCC visibility push(default)

// Losses of overlap, summed over some axes or, without, over everything at once.
namespace keratin::losses {

struct Dice {
  std::optional<Sizes> axis = {};

  static constexpr std::string_view keras_name = "Dice";
  static constexpr auto fields = field_list(field("axis", &Dice::axis));
  LossTerms call(Value y_true, Value y_pred) const;  // 1 - 2 · Σ t·p / (Σ t + Σ p + ε)
};

struct Tversky {
  double alpha = 0.5;  // weighs what is missed: Σ t · (1 - p)
  double beta = 0.5;   // weighs what is too much: Σ (1 - t) · p
  std::optional<Sizes> axis = {};

  static constexpr std::string_view keras_name = "Tversky";
  static constexpr auto fields =
      field_list(field("alpha", &Tversky::alpha), field("beta", &Tversky::beta),
                 field("axis", &Tversky::axis));
  // 1 - Σ t·p / (Σ t·p + alpha · missed + beta · too much + ε)
  LossTerms call(Value y_true, Value y_pred) const;
};

}  // namespace keratin::losses

#pragma GCC visibility pop
