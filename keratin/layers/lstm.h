#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/rnn.h"

namespace keratin {

struct KERATIN_API LSTMCellConfig {
  int64_t units = 0;
  Activation activation = "tanh";
  Activation recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  bool unit_forget_bias = true;  // the bias of the forget gate starts as ones
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint recurrent_constraint = {};
  Constraint bias_constraint = {};
  double dropout = 0;            // of the inputs; masks are drawn once for a sequence
  double recurrent_dropout = 0;  // of the state
  std::optional<int64_t> seed = {};
  int64_t implementation =
      2;  // 1: a dropout mask for each gate. Keras reads it, and does not write it.

  static constexpr std::string_view keras_name = "LSTMCell";
  static constexpr auto call_arguments = arguments_of_call("inputs", "states", "training", "drawn");
  static constexpr std::string_view unwritten = "implementation";
  static constexpr auto fields = field_list(
      field("units", &LSTMCellConfig::units), field("activation", &LSTMCellConfig::activation),
      field("recurrent_activation", &LSTMCellConfig::recurrent_activation),
      field("use_bias", &LSTMCellConfig::use_bias),
      field("kernel_initializer", &LSTMCellConfig::kernel_initializer),
      field("recurrent_initializer", &LSTMCellConfig::recurrent_initializer),
      field("bias_initializer", &LSTMCellConfig::bias_initializer),
      field("unit_forget_bias", &LSTMCellConfig::unit_forget_bias),
      field("kernel_regularizer", &LSTMCellConfig::kernel_regularizer),
      field("recurrent_regularizer", &LSTMCellConfig::recurrent_regularizer),
      field("bias_regularizer", &LSTMCellConfig::bias_regularizer),
      field("kernel_constraint", &LSTMCellConfig::kernel_constraint),
      field("recurrent_constraint", &LSTMCellConfig::recurrent_constraint),
      field("bias_constraint", &LSTMCellConfig::bias_constraint),
      field("dropout", &LSTMCellConfig::dropout),
      field("recurrent_dropout", &LSTMCellConfig::recurrent_dropout),
      field("seed", &LSTMCellConfig::seed),
      field("implementation", &LSTMCellConfig::implementation));
};

// With σ the recurrent activation, for each gate its part of x·kernel + h·recurrent_kernel + bias:
//   i, f, o = σ(…), g = activation(…),  c ← f·c + i·g,  h ← o·activation(c),  y = h
// The gates are in the order i, f, g, o; the states are h, c.
class KERATIN_API LSTMCellLayer final : public LayerOf<LSTMCellLayer, LSTMCellConfig, RnnCell> {
 public:
  LSTMCellLayer(LSTMCellConfig config, LayerOptions options);

  Tree<Shape> state_shapes() const override;
  Tree<Traced> draw(const Call& c, Value like, const Shape& features) const override;
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  Variable kernel_, recurrent_, bias_, seed_;
};

using LSTMCell = Shared<LSTMCellLayer>;

struct KERATIN_API LSTMConfig {
  int64_t units = 0;
  Activation activation = "tanh";
  Activation recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  bool unit_forget_bias = true;  // the bias of the forget gate starts as ones
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint recurrent_constraint = {};
  Constraint bias_constraint = {};
  double dropout = 0;
  double recurrent_dropout = 0;
  std::optional<int64_t> seed = {};
  bool return_sequences = false;
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  bool unroll = false;
  bool zero_output_for_mask = false;
  int64_t implementation = 2;
  static constexpr std::string_view keras_name = "LSTM";
  static constexpr bool part_has_activations = true;  // the cell
  static constexpr std::string_view unwritten = "implementation";
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(
      field("return_sequences", &LSTMConfig::return_sequences),
      field("return_state", &LSTMConfig::return_state),
      field("go_backwards", &LSTMConfig::go_backwards), field("stateful", &LSTMConfig::stateful),
      field("unroll", &LSTMConfig::unroll),
      field("zero_output_for_mask", &LSTMConfig::zero_output_for_mask),
      field("units", &LSTMConfig::units), field("activation", &LSTMConfig::activation),
      field("recurrent_activation", &LSTMConfig::recurrent_activation),
      field("use_bias", &LSTMConfig::use_bias),
      field("kernel_initializer", &LSTMConfig::kernel_initializer),
      field("recurrent_initializer", &LSTMConfig::recurrent_initializer),
      field("bias_initializer", &LSTMConfig::bias_initializer),
      field("unit_forget_bias", &LSTMConfig::unit_forget_bias),
      field("kernel_regularizer", &LSTMConfig::kernel_regularizer),
      field("recurrent_regularizer", &LSTMConfig::recurrent_regularizer),
      field("bias_regularizer", &LSTMConfig::bias_regularizer),
      field("kernel_constraint", &LSTMConfig::kernel_constraint),
      field("recurrent_constraint", &LSTMConfig::recurrent_constraint),
      field("bias_constraint", &LSTMConfig::bias_constraint),
      field("dropout", &LSTMConfig::dropout),
      field("recurrent_dropout", &LSTMConfig::recurrent_dropout), field("seed", &LSTMConfig::seed),
      field("implementation", &LSTMConfig::implementation));
};

// The cell over a sequence [batch, time, features]: as one op where it computes the usual things.
class KERATIN_API LSTMLayer final : public RecurrentOf<LSTMLayer, LSTMConfig> {
 public:
  LSTMLayer(LSTMConfig config, LayerOptions options);

 protected:
  RecurrentOutputs loop(const Call& c, const RecurrentInputs& in) const override;
};

using LSTM = Shared<LSTMLayer>;

}  // namespace keratin
