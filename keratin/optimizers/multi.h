#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

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
