#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API NadamConfig {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;

  static constexpr std::string_view keras_name = "Nadam";
  static constexpr auto fields = field_list(
      field("learning_rate", &NadamConfig::learning_rate), field("beta_1", &NadamConfig::beta_1),
      field("beta_2", &NadamConfig::beta_2), field("epsilon", &NadamConfig::epsilon));
};

// Adam with Nesterov momentum, whose β₁ warms up: u(t) = β₁·(1 - 0.96ᵗ / 2).
class KERATIN_API NadamOptimizer final : public OptimizerOf<NadamOptimizer, NadamConfig> {
 public:
  NadamOptimizer(NadamConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void begin(Tracer& tracer, Value count) override;
  void update(const Step& step) override;
  std::vector<Variable> momentums_, velocities_;
  Variable product_;  // the product of all u so far
};

using Nadam = SharedOptimizer<NadamOptimizer>;

}  // namespace keratin
