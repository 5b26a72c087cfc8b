#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/rnn.h"

namespace keratin {

// The fields of the cell, and of the layer over it.
template <class C>
struct GRUFields {
  static constexpr auto fields = field_list(
      field("units", &C::units), field("activation", &C::activation),
      field("recurrent_activation", &C::recurrent_activation), fields_of<CellKernelFields>(),
      fields_of<CellTrainingFields>(), field("reset_after", &C::reset_after),
      field("seed", &C::seed), field<Written::never>("implementation", &C::implementation));
};

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
  int64_t implementation = 2;  // 1: a dropout mask for each gate

  static constexpr std::string_view keras_name = "GRUCell";
  static constexpr auto call_arguments = arguments_of_call("inputs", "states", "training", "drawn");
  static constexpr auto fields = field_list(fields_of<GRUFields>());
};

// With σ the recurrent activation, a = x·kernel + bias[0] and s = h·recurrent_kernel + bias[1]:
//   z = σ(a_z + s_z), r = σ(a_r + s_r), g = activation(a_g + r·s_g),  h ← z·h + (1 - z)·g,  y = h
// Without reset_after there is one bias, in a, and r·h is multiplied by the recurrent kernel. The
// gates are in the order z, r, g.
class KERATIN_API GRUCellLayer final : public LayerOf<GRUCellLayer, GRUCellConfig, KerasCell> {
 public:
  GRUCellLayer(GRUCellConfig config, LayerOptions options);

  Tree<Shape> state_shapes() const override;
  Tree<Traced> draw(const Call& c, Value like, const Shape& features) const override;
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
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
  static constexpr bool cell_has_activations = true;
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(fields_of<RecurrentFields>(), fields_of<GRUFields>());
};

// The cell over a sequence [batch, time, features]: one op, see ops::gru, where that computes it.
class KERATIN_API GRULayer final : public RecurrentOf<GRULayer, GRUConfig> {
 public:
  GRULayer(GRUConfig config, LayerOptions options);

 protected:
  RecurrentOutputs loop(const Call& c, const RecurrentInputs& in) const override;
};

using GRU = Shared<GRULayer>;

}  // namespace keratin
