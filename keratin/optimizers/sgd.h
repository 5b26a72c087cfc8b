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

struct KERATIN_API RMSpropConfig {
  LearningRate learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;

  static constexpr std::string_view keras_name = "RMSprop";
  static constexpr auto fields = field_list(
      field("learning_rate", &RMSpropConfig::learning_rate), field("rho", &RMSpropConfig::rho),
      field("momentum", &RMSpropConfig::momentum), field("epsilon", &RMSpropConfig::epsilon),
      field("centered", &RMSpropConfig::centered));
};

// v = ρ·v + (1 - ρ)·g²; w -= rate·g / sqrt(v + ε). If centered, the square of the average gradient
// is subtracted from v; with momentum, steps accumulate.
class KERATIN_API RMSpropOptimizer final : public OptimizerOf<RMSpropOptimizer, RMSpropConfig> {
 public:
  RMSpropOptimizer(RMSpropConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> velocities_, momentums_, means_;
};

using RMSprop = SharedOptimizer<RMSpropOptimizer>;

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

struct KERATIN_API AdadeltaConfig {
  LearningRate learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-7;

  static constexpr std::string_view keras_name = "Adadelta";
  static constexpr auto fields =
      field_list(field("learning_rate", &AdadeltaConfig::learning_rate),
                 field("rho", &AdadeltaConfig::rho), field("epsilon", &AdadeltaConfig::epsilon));
};

// Steps in proportion to the rms of past steps and, inversely, of past gradients:
// d = -g·rms(d) / rms(g), averages by ρ; w += rate·d.
class KERATIN_API AdadeltaOptimizer final : public OptimizerOf<AdadeltaOptimizer, AdadeltaConfig> {
 public:
  AdadeltaOptimizer(AdadeltaConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  void update(const Step& step) override;
  std::vector<Variable> gradients_, deltas_;
};

using Adadelta = SharedOptimizer<AdadeltaOptimizer>;

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

struct KERATIN_API MuonConfig {
  LearningRate learning_rate = 0.001;
  double adam_beta_1 = 0.9;
  double adam_beta_2 = 0.999;
  std::optional<double> adam_weight_decay = 0.004;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = 0.004;
  std::vector<std::string> exclude_layers = {};
  bool exclude_embeddings = true;
  double muon_a = 3.4445;
  double muon_b = -4.775;
  double muon_c = 2.0315;
  double adam_lr_ratio = 1;
  double momentum = 0.95;
  int64_t ns_steps = 5;
  bool nesterov = true;
  std::optional<double> rms_rate = 0.2;

  static constexpr std::string_view keras_name = "Muon";
  static constexpr auto fields = field_list(
      field("learning_rate", &MuonConfig::learning_rate),
      field("weight_decay", &MuonConfig::weight_decay),
      field("adam_beta_1", &MuonConfig::adam_beta_1),
      field("adam_beta_2", &MuonConfig::adam_beta_2), field("epsilon", &MuonConfig::epsilon),
      field("exclude_layers", &MuonConfig::exclude_layers), field("muon_a", &MuonConfig::muon_a),
      field("muon_b", &MuonConfig::muon_b), field("muon_c", &MuonConfig::muon_c),
      field("adam_lr_ratio", &MuonConfig::adam_lr_ratio), field("momentum", &MuonConfig::momentum),
      field("ns_steps", &MuonConfig::ns_steps), field("nesterov", &MuonConfig::nesterov),
      field("exclude_embeddings", &MuonConfig::exclude_embeddings),
      field("adam_weight_decay", &MuonConfig::adam_weight_decay),
      field("rms_rate", &MuonConfig::rms_rate));
};

// Orthogonalized momentum, for matrices: w -= rate·orthogonal(g + μ·m), by Newton and Schulz's
// iteration x = a·x + (b·A + c·A²)·x with A = x·xᵀ. Vectors, tensors of more axes and embeddings
// are updated by AdamW.
class KERATIN_API MuonOptimizer final : public OptimizerOf<MuonOptimizer, MuonConfig> {
 public:
  MuonOptimizer(MuonConfig config, OptimizerOptions options);

 private:
  void make_slots(const std::vector<Variable>& variables) override;
  std::optional<double> weight_decay_of(const Variable& variable) const override;
  void update(const Step& step) override;
  bool follows_adam(const Variable& variable) const;
  Value orthogonal(Value x) const;
  std::vector<Variable> momentums_, velocities_;
};

using Muon = SharedOptimizer<MuonOptimizer>;

}  // namespace keratin
