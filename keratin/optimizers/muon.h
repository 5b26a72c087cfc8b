#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

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
