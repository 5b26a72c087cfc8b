#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

struct KERATIN_API AdafactorConfig {
  LearningRate learning_rate = 0.001;
  double beta_2_decay = -0.8;
  double epsilon_1 = 1e-30;
  double epsilon_2 = 0.001;
  double clip_threshold = 1;
  bool relative_step = true;

  static constexpr std::string_view keras_name = "Adafactor";
  static constexpr auto fields =
      field_list(field("learning_rate", &AdafactorConfig::learning_rate),
                 field("beta_2_decay", &AdafactorConfig::beta_2_decay),
                 field("epsilon_1", &AdafactorConfig::epsilon_1),
                 field("epsilon_2", &AdafactorConfig::epsilon_2),
                 field("clip_threshold", &AdafactorConfig::clip_threshold),
                 field("relative_step", &AdafactorConfig::relative_step));
};

// Adam with less memory: for matrices, it keeps the means of g² over rows and over columns only.
// Steps are in proportion to the weights.
class KERATIN_API AdafactorOptimizer final
    : public OptimizerOf<AdafactorOptimizer, AdafactorConfig> {
 public:
  AdafactorOptimizer(AdafactorConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  Value mean_square(const Step& step) const;
  void update(const Step& step) override;
  std::vector<Variable> rows_, columns_, velocities_;
};

using Adafactor = SharedOptimizer<AdafactorOptimizer>;

}  // namespace keratin
