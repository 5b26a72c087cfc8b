#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API LionConfig {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.99;

  static constexpr std::string_view keras_name = "Lion";
  static constexpr auto fields =
      field_list(field("learning_rate", &LionConfig::learning_rate),
                 field("beta_1", &LionConfig::beta_1), field("beta_2", &LionConfig::beta_2));
};

// Steps of constant size: w -= rate·sign(β₁·m + (1 - β₁)·g); m = β₂·m + (1 - β₂)·g.
class KERATIN_API LionOptimizer final : public OptimizerOf<LionOptimizer, LionConfig> {
 public:
  LionOptimizer(LionConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> momentums_;
};

using Lion = SharedOptimizer<LionOptimizer>;

}  // namespace keratin
