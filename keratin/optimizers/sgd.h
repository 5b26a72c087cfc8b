#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API SGDConfig {
  LearningRate learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;

  static constexpr std::string_view keras_name = "SGD";
  static constexpr auto fields =
      field_list(field("learning_rate", &SGDConfig::learning_rate),
                 field("momentum", &SGDConfig::momentum), field("nesterov", &SGDConfig::nesterov));
};

// Gradient descent, with momentum: v = μ·v - rate·g; w += v, or μ·v - rate·g after Nesterov.
class KERATIN_API SGDOptimizer final : public OptimizerOf<SGDOptimizer, SGDConfig> {
 public:
  SGDOptimizer(SGDConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> momentums_;
};

using SGD = SharedOptimizer<SGDOptimizer>;

}  // namespace keratin
