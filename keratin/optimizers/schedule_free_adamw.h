#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API ScheduleFreeAdamWConfig {
  LearningRate learning_rate = 0.0025;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-8;
  int64_t warmup_steps = 0;

  static constexpr std::string_view keras_name = "ScheduleFreeAdamW";
  static constexpr auto fields =
      field_list(field("learning_rate", &ScheduleFreeAdamWConfig::learning_rate),
                 field("beta_1", &ScheduleFreeAdamWConfig::beta_1),
                 field("beta_2", &ScheduleFreeAdamWConfig::beta_2),
                 field("epsilon", &ScheduleFreeAdamWConfig::epsilon),
                 field("warmup_steps", &ScheduleFreeAdamWConfig::warmup_steps));
};

// AdamW without a schedule: z descends, x is the mean of all z, and gradients are taken at
// y = (1 - β₁)·z + β₁·x, the weights. The slot "momentum" is z.
class KERATIN_API ScheduleFreeAdamWOptimizer final
    : public OptimizerOf<ScheduleFreeAdamWOptimizer, ScheduleFreeAdamWConfig> {
 public:
  ScheduleFreeAdamWOptimizer(ScheduleFreeAdamWConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> momentums_, velocities_;
};

using ScheduleFreeAdamW = SharedOptimizer<ScheduleFreeAdamWOptimizer>;

}  // namespace keratin
