#pragma once

#include "keratin/base/export.h"
#include "keratin/losses/loss.h"

// Overlap losses, summed over the given axes; default: over all.
namespace keratin::losses {

struct KERATIN_API Dice {
  std::optional<Sizes> axis = {};

  static constexpr std::string_view keras_name = "Dice";
  static constexpr auto fields = field_list(field("axis", &Dice::axis));
  LossTerms call(Value y_true, Value y_pred) const;  // 1 - 2 · Σ t·p / (Σ t + Σ p + ε)
};

struct KERATIN_API Tversky {
  double alpha = 0.5;  // the weight of misses: Σ t · (1 - p)
  double beta = 0.5;   // the weight of false alarms: Σ (1 - t) · p
  std::optional<Sizes> axis = {};

  static constexpr std::string_view keras_name = "Tversky";
  static constexpr auto fields =
      field_list(field("alpha", &Tversky::alpha), field("beta", &Tversky::beta),
                 field("axis", &Tversky::axis));
  // 1 - Σ t·p / (Σ t·p + alpha · misses + beta · false alarms + ε)
  LossTerms call(Value y_true, Value y_pred) const;
};

}  // namespace keratin::losses
