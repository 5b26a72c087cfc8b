#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API AdamWConfig {
  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = 0.004;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;

  static constexpr std::string_view keras_name = "AdamW";
  static constexpr auto fields =
      field_list(field("learning_rate", &AdamWConfig::learning_rate),
                 field("weight_decay", &AdamWConfig::weight_decay),
                 field("beta_1", &AdamWConfig::beta_1), field("beta_2", &AdamWConfig::beta_2),
                 field("epsilon", &AdamWConfig::epsilon), field("amsgrad", &AdamWConfig::amsgrad));
};

// Adam with weight decay, see adam.h.
class KERATIN_API AdamWOptimizer final : public OptimizerOf<AdamWOptimizer, AdamWConfig> {
 public:
  AdamWOptimizer(AdamWConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> momentums_, velocities_, peaks_;
};

using AdamW = SharedOptimizer<AdamWOptimizer>;

}  // namespace keratin
