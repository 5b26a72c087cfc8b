#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API LossScaleConfig {
  Optimizer inner_optimizer = Optimizer(nullptr);
  double initial_scale = 32768;
  int64_t dynamic_growth_steps = 2000;
  bool dynamic = true;  // in older files

  static constexpr std::string_view keras_name = "LossScaleOptimizer";
  static constexpr auto fields =
      field_list(field("inner_optimizer", &LossScaleConfig::inner_optimizer),
                 field("initial_scale", &LossScaleConfig::initial_scale),
                 field("dynamic_growth_steps", &LossScaleConfig::dynamic_growth_steps),
                 field<Written::never>("dynamic", &LossScaleConfig::dynamic));
};

// Scales the loss, so that gradients of 16 bits do not vanish, and unscales gradients for an inner
// optimizer. If they are not finite, it skips the step and halves the scale; after
// dynamic_growth_steps finite steps it doubles the scale.
class KERATIN_API LossScaleState final : public OptimizerOf<LossScaleState, LossScaleConfig> {
 public:
  LossScaleState(LossScaleConfig config, OptimizerOptions options);

  Json get_config() const override;
  std::vector<Variable> variables() const override;
  std::vector<Inner> inner_optimizers() const override {
    return {{"inner_optimizer", cfg.inner_optimizer.ptr()}};
  }
  Value scale_loss(Tracer& tracer, Value loss) override;
  void apply(Tracer& tracer, Values gradients) override;
  double learning_rate() const override { return cfg.inner_optimizer->learning_rate(); }
  void set_learning_rate(double rate) override { cfg.inner_optimizer->set_learning_rate(rate); }
  int64_t iterations() const override { return cfg.inner_optimizer->iterations(); }
  void finalize() override { cfg.inner_optimizer->finalize(); }
  const std::vector<Variable>& averages() const override { return cfg.inner_optimizer->averages(); }

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step&) override {}
  Variable counter_, scale_;
};

using LossScaleOptimizer = SharedOptimizer<LossScaleState>;

namespace detail {

// The optimizer inside a LossScaleOptimizer, unless it is one: for training in mixed_float16.
KERATIN_API Optimizer with_scaled_loss(const Optimizer& inner);

}  // namespace detail

// Which optimizer updates which variable: the one whose pattern, a regular expression, matches the
// variable's whole path, else the default one.
struct KERATIN_API OptimizerMap {
  Optimizer default_optimizer = Optimizer(nullptr);
  std::vector<std::pair<std::string, Optimizer>> optimizer_map = {};

  Optimizer of(const Variable& variable) const;
  OptimizerMap fresh_copy() const;
  Json to_json() const;
  static OptimizerMap from_json(const Json& json);
};

struct KERATIN_API MultiOptimizerConfig {
  OptimizerMap optimizer_map = {};

  static constexpr std::string_view keras_name = "MultiOptimizer";
  static constexpr auto fields =
      field_list(field("optimizer_map", &MultiOptimizerConfig::optimizer_map));
};

// Updates each variable by one of several optimizers.
class KERATIN_API MultiOptimizerState final
    : public OptimizerOf<MultiOptimizerState, MultiOptimizerConfig> {
 public:
  MultiOptimizerState(MultiOptimizerConfig config, OptimizerOptions options);

  Json get_config() const override;
  std::vector<Variable> variables() const override;
  std::vector<Inner> inner_optimizers() const override;
  void apply(Tracer& tracer, Values gradients) override;
  double learning_rate() const override;
  void set_learning_rate(double rate) override;
  void finalize() override;
  void set_loss_scale_factor(std::optional<double> factor) override;

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step&) override {}

  struct Share {
    Optimizer optimizer;
    std::vector<size_t> variables = {};  // indices into all variables
  };
  std::vector<Share> shares_;
};

using MultiOptimizer = SharedOptimizer<MultiOptimizerState>;

}  // namespace keratin
