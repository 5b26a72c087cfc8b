#pragma once

#include "keratin/losses/loss.h"

#pragma GCC visibility push(default)

// Losses between numbers, averaged over the last axis.
namespace keratin::losses {

struct MeanSquaredError {
  static constexpr std::string_view keras_name = "MeanSquaredError";
  static constexpr std::tuple<> fields{};
  LossTerms call(Value y_true, Value y_pred) const;  // (t - p)²
};

}  // namespace keratin::losses

#pragma GCC visibility pop
