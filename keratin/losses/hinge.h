#pragma once

#include "keratin/base/export.h"
#include "keratin/losses/loss.h"

// Margin losses. Labels are -1 and 1; if all of them are 0 or 1, 0 counts as -1.
namespace keratin::losses {

struct KERATIN_API Hinge {
  static constexpr std::string_view keras_name = "Hinge";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // mean of max(1 - t · p, 0)
};

struct KERATIN_API SquaredHinge {
  static constexpr std::string_view keras_name = "SquaredHinge";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // mean of max(1 - t · p, 0)²
};

// The margin between the score of the true class and the best other score; y_true is one-hot.
struct KERATIN_API CategoricalHinge {
  static constexpr std::string_view keras_name = "CategoricalHinge";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // max(max((1 - t) · p) - Σ t · p + 1, 0)
};

}  // namespace keratin::losses
