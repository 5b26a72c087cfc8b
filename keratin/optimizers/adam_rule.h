#pragma once

#include "keratin/optimizers/optimizer.h"

namespace keratin {

// The arithmetic that Adam, AdamW and Muon share:
// m += (g - m)·(1 - β₁); v += (g² - v)·(1 - β₂); w -= rate·sqrt(1 - β₂ᵗ) / (1 - β₁ᵗ)·m / (sqrt(v) +
// ε). If there is a `peak`, it keeps the maximum of v, which is used instead of v.
struct AdamRule {
  double beta_1, beta_2, epsilon;

  void operator()(const OptimizerStep& step, const Variable& momentum, const Variable& velocity,
                  const Variable& peak = {}) const;
};

}  // namespace keratin
