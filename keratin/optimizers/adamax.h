#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API AdamaxConfig {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;

  static constexpr std::string_view keras_name = "Adamax";
  static constexpr auto fields = field_list(
      field("learning_rate", &AdamaxConfig::learning_rate), field("beta_1", &AdamaxConfig::beta_1),
      field("beta_2", &AdamaxConfig::beta_2), field("epsilon", &AdamaxConfig::epsilon));
};

// Adam with a decaying maximum of |g| instead of the rms of g:
// u = max(β₂·u, |g|); w -= rate·m / ((1 - β₁ᵗ)·(u + ε)).
class KERATIN_API AdamaxOptimizer final : public OptimizerOf<AdamaxOptimizer, AdamaxConfig> {
 public:
  AdamaxOptimizer(AdamaxConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> momentums_, norms_;
};

using Adamax = SharedOptimizer<AdamaxOptimizer>;

}  // namespace keratin
