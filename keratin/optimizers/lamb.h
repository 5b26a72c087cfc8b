#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API LambConfig {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;

  static constexpr std::string_view keras_name = "Lamb";
  static constexpr auto fields = field_list(
      field("learning_rate", &LambConfig::learning_rate), field("beta_1", &LambConfig::beta_1),
      field("beta_2", &LambConfig::beta_2), field("epsilon", &LambConfig::epsilon));
};

// Adam whose steps are in proportion to the norm of each variable:
// w -= rate·|w| / |a|·a, where a is Adam's step.
class KERATIN_API LambOptimizer final : public OptimizerOf<LambOptimizer, LambConfig> {
 public:
  LambOptimizer(LambConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> momentums_, velocities_;
};

using Lamb = SharedOptimizer<LambOptimizer>;

}  // namespace keratin
