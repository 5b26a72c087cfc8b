#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/rnn.h"

namespace keratin {

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
      field_list(field("units", &SimpleRNNCellConfig::units),
                 field("activation", &SimpleRNNCellConfig::activation),
                 field("use_bias", &SimpleRNNCellConfig::use_bias),
                 field("kernel_initializer", &SimpleRNNCellConfig::kernel_initializer),
                 field("recurrent_initializer", &SimpleRNNCellConfig::recurrent_initializer),
                 field("bias_initializer", &SimpleRNNCellConfig::bias_initializer),
                 field("kernel_regularizer", &SimpleRNNCellConfig::kernel_regularizer),
                 field("recurrent_regularizer", &SimpleRNNCellConfig::recurrent_regularizer),
                 field("bias_regularizer", &SimpleRNNCellConfig::bias_regularizer),
                 field("kernel_constraint", &SimpleRNNCellConfig::kernel_constraint),
                 field("recurrent_constraint", &SimpleRNNCellConfig::recurrent_constraint),
                 field("bias_constraint", &SimpleRNNCellConfig::bias_constraint),
                 field("dropout", &SimpleRNNCellConfig::dropout),
                 field("recurrent_dropout", &SimpleRNNCellConfig::recurrent_dropout),
                 field("seed", &SimpleRNNCellConfig::seed));
};

// h ← activation(x·kernel + h·recurrent_kernel + bias), y = h
class KERATIN_API SimpleRNNCellLayer final
    : public LayerOf<SimpleRNNCellLayer, SimpleRNNCellConfig, RnnCell> {
 public:
  SimpleRNNCellLayer(SimpleRNNCellConfig config, LayerOptions options);

  Tree<Shape> state_shapes() const override;
  Tree<Traced> draw(const Call& c, Value like, const Shape& features) const override;
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  Variable kernel_, recurrent_, bias_, seed_;
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
  std::optional<int64_t> seed = {};  // not in Keras's config of this layer

  static constexpr std::string_view keras_name = "SimpleRNN";
  static constexpr bool part_has_activations = true;  // the cell
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(
      field("return_sequences", &SimpleRNNConfig::return_sequences),
      field("return_state", &SimpleRNNConfig::return_state),
      field("go_backwards", &SimpleRNNConfig::go_backwards),
      field("stateful", &SimpleRNNConfig::stateful), field("unroll", &SimpleRNNConfig::unroll),
      field("zero_output_for_mask", &SimpleRNNConfig::zero_output_for_mask),
      field("units", &SimpleRNNConfig::units), field("activation", &SimpleRNNConfig::activation),
      field("use_bias", &SimpleRNNConfig::use_bias),
      field("kernel_initializer", &SimpleRNNConfig::kernel_initializer),
      field("recurrent_initializer", &SimpleRNNConfig::recurrent_initializer),
      field("bias_initializer", &SimpleRNNConfig::bias_initializer),
      field("kernel_regularizer", &SimpleRNNConfig::kernel_regularizer),
      field("recurrent_regularizer", &SimpleRNNConfig::recurrent_regularizer),
      field("bias_regularizer", &SimpleRNNConfig::bias_regularizer),
      field("kernel_constraint", &SimpleRNNConfig::kernel_constraint),
      field("recurrent_constraint", &SimpleRNNConfig::recurrent_constraint),
      field("bias_constraint", &SimpleRNNConfig::bias_constraint),
      field("dropout", &SimpleRNNConfig::dropout),
      field("recurrent_dropout", &SimpleRNNConfig::recurrent_dropout));
};

// The cell over a sequence [batch, time, features].
class KERATIN_API SimpleRNNLayer final : public RecurrentOf<SimpleRNNLayer, SimpleRNNConfig> {
 public:
  SimpleRNNLayer(SimpleRNNConfig config, LayerOptions options);
};

using SimpleRNN = Shared<SimpleRNNLayer>;

}  // namespace keratin
