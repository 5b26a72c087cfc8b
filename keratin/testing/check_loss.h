#pragma once

#include <string>

namespace keratin::testing {

// Every case that real Keras recorded for a loss (tests/golden/losses.json): reading and writing
// the config, and for each reduction, sample weight and mask the value and its gradient with
// respect to the prediction, on every backend. Numbers may differ by |a - b| <= tolerance · (1 +
// |b|).
void check_loss(const std::string& class_name, double tolerance = 1e-5);

}  // namespace keratin::testing
