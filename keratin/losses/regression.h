#pragma once

#include "keratin/base/export.h"
#include "keratin/losses/loss.h"

// Losses between numbers. All but CosineSimilarity are means over the last axis.
namespace keratin::losses {

struct KERATIN_API MeanSquaredError {
  static constexpr std::string_view keras_name = "MeanSquaredError";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // (t - p)²
};

struct KERATIN_API MeanAbsoluteError {
  static constexpr std::string_view keras_name = "MeanAbsoluteError";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // |t - p|
};

struct KERATIN_API MeanAbsolutePercentageError {
  static constexpr std::string_view keras_name = "MeanAbsolutePercentageError";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // 100 · |(t - p) / max(|t|, ε)|
};

struct KERATIN_API MeanSquaredLogarithmicError {
  static constexpr std::string_view keras_name = "MeanSquaredLogarithmicError";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // (log(max(t, ε) + 1) - log(max(p, ε) + 1))²
};

// -cos of the angle between t and p: -1 where their directions are equal.
struct KERATIN_API CosineSimilarity {
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "CosineSimilarity";
  static constexpr auto fields =
      field_list(field<Written::if_changed>("axis", &CosineSimilarity::axis));
  LossTerms call(Value y_true, Value y_pred) const;
};

// e²/2 where |e| = |p - t| is at most delta, delta · |e| - delta²/2 elsewhere.
struct KERATIN_API Huber {
  double delta = 1;

  static constexpr std::string_view keras_name = "Huber";
  static constexpr std::string_view default_name = "huber_loss";
  static constexpr auto fields = field_list(field<Written::if_changed>("delta", &Huber::delta));
  LossTerms call(Value y_true, Value y_pred) const;
};

struct KERATIN_API LogCosh {
  static constexpr std::string_view keras_name = "LogCosh";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // log cosh(p - t)
};

// cos of the angle between t and p along an axis; 0 if one of them is 0.
KERATIN_API Value cosine_of_angle(Value y_true, Value y_pred, int64_t axis);

}  // namespace keratin::losses
