#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/rnn.h"

namespace keratin {

// The fields of the cell, and of the layer over it.
template <class C>
struct LSTMFields {
  static constexpr auto fields = field_list(
      field("units", &C::units), field("activation", &C::activation),
      field("recurrent_activation", &C::recurrent_activation), fields_of<CellKernelFields>(),
      field("unit_forget_bias", &C::unit_forget_bias), fields_of<CellTrainingFields>(),
      field("seed", &C::seed), field<Written::never>("implementation", &C::implementation));
};

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
  int64_t implementation = 2;  // 1: a dropout mask for each gate

  static constexpr std::string_view keras_name = "LSTMCell";
  static constexpr auto call_arguments = arguments_of_call("inputs", "states", "training", "drawn");
  static constexpr auto fields = field_list(fields_of<LSTMFields>());
};

// With σ the recurrent activation, for each gate its part of x·kernel + h·recurrent_kernel + bias:
//   i, f, o = σ(…), g = activation(…),  c ← f·c + i·g,  h ← o·activation(c),  y = h
// The gates are in the order i, f, g, o; the states are h, c.
class KERATIN_API LSTMCellLayer final : public LayerOf<LSTMCellLayer, LSTMCellConfig, KerasCell> {
 public:
  LSTMCellLayer(LSTMCellConfig config, LayerOptions options);

  Tree<Shape> state_shapes() const override;
  Tree<Traced> draw(const Call& c, Value like, const Shape& features) const override;
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
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
  static constexpr bool cell_has_activations = true;
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(fields_of<RecurrentFields>(), fields_of<LSTMFields>());
};

// The cell over a sequence [batch, time, features]: one op, see ops::lstm, where that computes it.
class KERATIN_API LSTMLayer final : public RecurrentOf<LSTMLayer, LSTMConfig> {
 public:
  LSTMLayer(LSTMConfig config, LayerOptions options);

 protected:
  RecurrentOutputs loop(const Call& c, const RecurrentInputs& in) const override;
};

using LSTM = Shared<LSTMLayer>;

}  // namespace keratin
