#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/rnn.h"

namespace keratin {

// The fields of the cell, and of the layer over it.
template <class C>
struct SimpleRNNFields {
  static constexpr auto fields =
      field_list(field("units", &C::units), field("activation", &C::activation),
                 fields_of<CellKernelFields>(), fields_of<CellTrainingFields>());
};

struct KERATIN_API SimpleRNNCellConfig {
  int64_t units = 0;
  Activation activation = "tanh";
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
  double dropout = 0;            // of the inputs, one mask for all steps
  double recurrent_dropout = 0;  // of the state
  std::optional<int64_t> seed = {};

  static constexpr std::string_view keras_name = "SimpleRNNCell";
  static constexpr auto call_arguments =
      arguments_of_call("sequence", "states", "training", "drawn");
  static constexpr auto fields =
      field_list(fields_of<SimpleRNNFields>(), field("seed", &SimpleRNNCellConfig::seed));
};

// h ← activation(x·kernel + h·recurrent_kernel + bias), y = h
class KERATIN_API SimpleRNNCellLayer final
    : public LayerOf<SimpleRNNCellLayer, SimpleRNNCellConfig, KerasCell> {
 public:
  SimpleRNNCellLayer(SimpleRNNCellConfig config, LayerOptions options);

  Tree<Shape> state_shapes() const override;
  Tree<Traced> draw(const Call& c, Value like, const Shape& features) const override;
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
};

using SimpleRNNCell = Shared<SimpleRNNCellLayer>;

struct KERATIN_API SimpleRNNConfig {
  int64_t units = 0;
  Activation activation = "tanh";
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
  bool return_sequences = false;
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  bool unroll = false;
  bool zero_output_for_mask = false;
  std::optional<int64_t> seed = {};  // Keras has it, but not in this layer's config

  static constexpr std::string_view keras_name = "SimpleRNN";
  static constexpr bool cell_has_activations = true;
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(
      fields_of<RecurrentFields>(), fields_of<SimpleRNNFields>(), unlisted(&SimpleRNNConfig::seed));
};

// The cell over a sequence [batch, time, features].
class KERATIN_API SimpleRNNLayer final : public RecurrentOf<SimpleRNNLayer, SimpleRNNConfig> {
 public:
  SimpleRNNLayer(SimpleRNNConfig config, LayerOptions options);
};

using SimpleRNN = Shared<SimpleRNNLayer>;

}  // namespace keratin
