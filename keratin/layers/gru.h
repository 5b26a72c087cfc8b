#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/rnn.h"

namespace keratin {

struct KERATIN_API GRUCellConfig {
  int64_t units = 0;
  Activation activation = "tanh";
  Activation recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint recurrent_constraint = {};
  Constraint bias_constraint = {};
  double dropout = 0;            // of the inputs; masks are drawn once for a sequence
  double recurrent_dropout = 0;  // of the state
  bool reset_after = true;  // r after the product of the state, with a bias of its own; or before
  std::optional<int64_t> seed = {};
  int64_t implementation =
      2;  // 1: a dropout mask for each gate. Keras reads it, and does not write it.

  static constexpr std::string_view keras_name = "GRUCell";
  static constexpr auto call_arguments = arguments_of_call("inputs", "states", "training", "drawn");
  static constexpr std::string_view unwritten = "implementation";
  static constexpr auto fields = field_list(
      field("units", &GRUCellConfig::units), field("activation", &GRUCellConfig::activation),
      field("recurrent_activation", &GRUCellConfig::recurrent_activation),
      field("use_bias", &GRUCellConfig::use_bias),
      field("kernel_initializer", &GRUCellConfig::kernel_initializer),
      field("recurrent_initializer", &GRUCellConfig::recurrent_initializer),
      field("bias_initializer", &GRUCellConfig::bias_initializer),
      field("kernel_regularizer", &GRUCellConfig::kernel_regularizer),
      field("recurrent_regularizer", &GRUCellConfig::recurrent_regularizer),
      field("bias_regularizer", &GRUCellConfig::bias_regularizer),
      field("kernel_constraint", &GRUCellConfig::kernel_constraint),
      field("recurrent_constraint", &GRUCellConfig::recurrent_constraint),
      field("bias_constraint", &GRUCellConfig::bias_constraint),
      field("dropout", &GRUCellConfig::dropout),
      field("recurrent_dropout", &GRUCellConfig::recurrent_dropout),
      field("reset_after", &GRUCellConfig::reset_after), field("seed", &GRUCellConfig::seed),
      field("implementation", &GRUCellConfig::implementation));
};

// With σ the recurrent activation, a = x·kernel + bias[0] and s = h·recurrent_kernel + bias[1]:
//   z = σ(a_z + s_z), r = σ(a_r + s_r), g = activation(a_g + r·s_g),  h ← z·h + (1 - z)·g,  y = h
// Without reset_after there is one bias, in a, and r·h is multiplied by the recurrent kernel. The
// gates are in the order z, r, g.
class KERATIN_API GRUCellLayer final : public LayerOf<GRUCellLayer, GRUCellConfig, RnnCell> {
 public:
  GRUCellLayer(GRUCellConfig config, LayerOptions options);

  Tree<Shape> state_shapes() const override;
  Tree<Traced> draw(const Call& c, Value like, const Shape& features) const override;
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  Variable kernel_, recurrent_, bias_, seed_;
};

using GRUCell = Shared<GRUCellLayer>;

struct KERATIN_API GRUConfig {
  int64_t units = 0;
  Activation activation = "tanh";
  Activation recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint recurrent_constraint = {};
  Constraint bias_constraint = {};
  double dropout = 0;
  double recurrent_dropout = 0;
  bool reset_after = true;  // r after the product of the state, with a bias of its own; or before
  std::optional<int64_t> seed = {};
  bool return_sequences = false;
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  bool unroll = false;
  bool zero_output_for_mask = false;
  int64_t implementation = 2;
  static constexpr std::string_view keras_name = "GRU";
  static constexpr bool part_has_activations = true;  // the cell
  static constexpr std::string_view unwritten = "implementation";
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(
      field("return_sequences", &GRUConfig::return_sequences),
      field("return_state", &GRUConfig::return_state),
      field("go_backwards", &GRUConfig::go_backwards), field("stateful", &GRUConfig::stateful),
      field("unroll", &GRUConfig::unroll),
      field("zero_output_for_mask", &GRUConfig::zero_output_for_mask),
      field("units", &GRUConfig::units), field("activation", &GRUConfig::activation),
      field("recurrent_activation", &GRUConfig::recurrent_activation),
      field("use_bias", &GRUConfig::use_bias),
      field("kernel_initializer", &GRUConfig::kernel_initializer),
      field("recurrent_initializer", &GRUConfig::recurrent_initializer),
      field("bias_initializer", &GRUConfig::bias_initializer),
      field("kernel_regularizer", &GRUConfig::kernel_regularizer),
      field("recurrent_regularizer", &GRUConfig::recurrent_regularizer),
      field("bias_regularizer", &GRUConfig::bias_regularizer),
      field("kernel_constraint", &GRUConfig::kernel_constraint),
      field("recurrent_constraint", &GRUConfig::recurrent_constraint),
      field("bias_constraint", &GRUConfig::bias_constraint), field("dropout", &GRUConfig::dropout),
      field("recurrent_dropout", &GRUConfig::recurrent_dropout),
      field("reset_after", &GRUConfig::reset_after), field("seed", &GRUConfig::seed),
      field("implementation", &GRUConfig::implementation));
};

// The cell over a sequence [batch, time, features]: as one op where it computes the usual things.
class KERATIN_API GRULayer final : public RecurrentOf<GRULayer, GRUConfig> {
 public:
  GRULayer(GRUConfig config, LayerOptions options);

 protected:
  RecurrentOutputs loop(const Call& c, const RecurrentInputs& in) const override;
};

using GRU = Shared<GRULayer>;

}  // namespace keratin
