#pragma once

#include "keratin/base/export.h"
#include "keratin/losses/loss.h"

// Losses of a margin. Labels are -1 and 1; where all of them are 0 and 1, 0 stands for -1.
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

// Between the score of the true class and the best of the others; the truth is one-hot.
struct KERATIN_API CategoricalHinge {
  static constexpr std::string_view keras_name = "CategoricalHinge";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // max(max((1 - t) · p) - Σ t · p + 1, 0)
};

}  // namespace keratin::losses
