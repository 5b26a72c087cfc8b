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

// Adam with weight decay.
class KERATIN_API AdamWOptimizer final : public OptimizerOf<AdamWOptimizer, AdamWConfig> {
 public:
  AdamWOptimizer(AdamWConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> momentums_, velocities_, peaks_;
};

using AdamW = SharedOptimizer<AdamWOptimizer>;

struct KERATIN_API AdamaxConfig {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;

  static constexpr std::string_view keras_name = "Adamax";
  static constexpr auto fields = field_list(
      field("learning_rate", &AdamaxConfig::learning_rate), field("beta_1", &AdamaxConfig::beta_1),
      field("beta_2", &AdamaxConfig::beta_2), field("epsilon", &AdamaxConfig::epsilon));
};

// Adam with a decaying maximum of |g| instead of the rms of g:
// u = max(β₂·u, |g|); w -= rate·m / ((1 - β₁ᵗ)·(u + ε)).
class KERATIN_API AdamaxOptimizer final : public OptimizerOf<AdamaxOptimizer, AdamaxConfig> {
 public:
  AdamaxOptimizer(AdamaxConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> momentums_, norms_;
};

using Adamax = SharedOptimizer<AdamaxOptimizer>;

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
