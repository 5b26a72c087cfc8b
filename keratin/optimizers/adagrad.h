#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API AdagradConfig {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;

  static constexpr std::string_view keras_name = "Adagrad";
  static constexpr auto fields =
      field_list(field("learning_rate", &AdagradConfig::learning_rate),
                 field("initial_accumulator_value", &AdagradConfig::initial_accumulator_value),
                 field("epsilon", &AdagradConfig::epsilon));
};

// a += g²; w -= rate·g / sqrt(a + ε).
class KERATIN_API AdagradOptimizer final : public OptimizerOf<AdagradOptimizer, AdagradConfig> {
 public:
  AdagradOptimizer(AdagradConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> sums_;
};

using Adagrad = SharedOptimizer<AdagradOptimizer>;

}  // namespace keratin
