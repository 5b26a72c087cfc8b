#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API RMSpropConfig {
  LearningRate learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;

  static constexpr std::string_view keras_name = "RMSprop";
  static constexpr auto fields = field_list(
      field("learning_rate", &RMSpropConfig::learning_rate), field("rho", &RMSpropConfig::rho),
      field("momentum", &RMSpropConfig::momentum), field("epsilon", &RMSpropConfig::epsilon),
      field("centered", &RMSpropConfig::centered));
};

// v = ρ·v + (1 - ρ)·g²; w -= rate·g / sqrt(v + ε). If centered, the square of the average gradient
// is subtracted from v; with momentum, steps accumulate.
class KERATIN_API RMSpropOptimizer final : public OptimizerOf<RMSpropOptimizer, RMSpropConfig> {
 public:
  RMSpropOptimizer(RMSpropConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> velocities_, momentums_, means_;
};

using RMSprop = SharedOptimizer<RMSpropOptimizer>;

}  // namespace keratin
