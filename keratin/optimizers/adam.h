#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API AdamConfig {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;

  static constexpr std::string_view keras_name = "Adam";
  static constexpr auto fields =
      field_list(field("learning_rate", &AdamConfig::learning_rate),
                 field("beta_1", &AdamConfig::beta_1), field("beta_2", &AdamConfig::beta_2),
                 field("epsilon", &AdamConfig::epsilon), field("amsgrad", &AdamConfig::amsgrad));
};

// Steps scaled by moving averages of the gradient and of its square: see adam_rule.h.
class KERATIN_API AdamOptimizer final : public OptimizerOf<AdamOptimizer, AdamConfig> {
 public:
  AdamOptimizer(AdamConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> momentums_, velocities_, peaks_;
};

using Adam = SharedOptimizer<AdamOptimizer>;

}  // namespace keratin
