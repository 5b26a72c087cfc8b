#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API AdadeltaConfig {
  LearningRate learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-7;

  static constexpr std::string_view keras_name = "Adadelta";
  static constexpr auto fields =
      field_list(field("learning_rate", &AdadeltaConfig::learning_rate),
                 field("rho", &AdadeltaConfig::rho), field("epsilon", &AdadeltaConfig::epsilon));
};

// Steps in proportion to the rms of past steps and, inversely, of past gradients:
// d = -g·rms(d) / rms(g), averages by ρ; w += rate·d.
class KERATIN_API AdadeltaOptimizer final : public OptimizerOf<AdadeltaOptimizer, AdadeltaConfig> {
 public:
  AdadeltaOptimizer(AdadeltaConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> gradients_, deltas_;
};

using Adadelta = SharedOptimizer<AdadeltaOptimizer>;

}  // namespace keratin
