#pragma once

#include "keratin/losses/loss.h"

#pragma GCC visibility push(default)

// Losses between numbers. All but CosineSimilarity are means over the last axis.
namespace keratin::losses {

struct MeanSquaredError {
  static constexpr std::string_view keras_name = "MeanSquaredError";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // (t - p)²
};

struct MeanAbsoluteError {
  static constexpr std::string_view keras_name = "MeanAbsoluteError";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // |t - p|
};

struct MeanAbsolutePercentageError {
  static constexpr std::string_view keras_name = "MeanAbsolutePercentageError";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // 100 · |(t - p) / max(|t|, ε)|
};

struct MeanSquaredLogarithmicError {
  static constexpr std::string_view keras_name = "MeanSquaredLogarithmicError";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // (log(max(t, ε) + 1) - log(max(p, ε) + 1))²
};

// -cos of the angle between t and p: -1 where they point the same way.
struct CosineSimilarity {
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "CosineSimilarity";
  static constexpr auto fields = field_list(field("axis", &CosineSimilarity::axis));
  bool writes(std::string_view) const { return axis != -1; }
  LossTerms call(Value y_true, Value y_pred) const;
};

// e²/2 where |e| = |p - t| is at most delta, delta · |e| - delta²/2 elsewhere.
struct Huber {
  double delta = 1;

  static constexpr std::string_view keras_name = "Huber";
  static constexpr std::string_view default_name = "huber_loss";
  static constexpr auto fields = field_list(field("delta", &Huber::delta));
  bool writes(std::string_view) const { return delta != 1; }
  LossTerms call(Value y_true, Value y_pred) const;
};

struct LogCosh {
  static constexpr std::string_view keras_name = "LogCosh";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // log cosh(p - t)
};

// cos of the angle between t and p along an axis; 0 where one of them is 0.
Value cosine_of_angle(Value y_true, Value y_pred, int64_t axis);

}  // namespace keratin::losses

#pragma GCC visibility pop
