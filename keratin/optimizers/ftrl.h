#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API FtrlConfig {
  LearningRate learning_rate = 0.001;
  double learning_rate_power = -0.5;
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0;
  double l2_regularization_strength = 0;
  double l2_shrinkage_regularization_strength = 0;
  double beta = 0;

  static constexpr std::string_view keras_name = "Ftrl";
  static constexpr auto fields =
      field_list(field("learning_rate", &FtrlConfig::learning_rate),
                 field("learning_rate_power", &FtrlConfig::learning_rate_power),
                 field("initial_accumulator_value", &FtrlConfig::initial_accumulator_value),
                 field("l1_regularization_strength", &FtrlConfig::l1_regularization_strength),
                 field("l2_regularization_strength", &FtrlConfig::l2_regularization_strength),
                 field("l2_shrinkage_regularization_strength",
                       &FtrlConfig::l2_shrinkage_regularization_strength),
                 field("beta", &FtrlConfig::beta));
};

// Follow the regularized leader: z += g - (nᵖ after - nᵖ before) / rate·w, where n sums g² and p is
// the negated learning_rate_power; w = (clip(z, ±l1) - z) / (nᵖ / rate + 2·l2).
class KERATIN_API FtrlOptimizer final : public OptimizerOf<FtrlOptimizer, FtrlConfig> {
 public:
  FtrlOptimizer(FtrlConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> sums_, linears_;
};

using Ftrl = SharedOptimizer<FtrlOptimizer>;

}  // namespace keratin
