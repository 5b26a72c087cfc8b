#pragma once

#include <array>

#include "keratin/base/export.h"
#include "keratin/layers/conv.h"
#include "keratin/layers/rnn.h"

// LSTMs whose matmuls are convolutions, over sequences of images with one to three spatial axes.
namespace keratin {

// The fields of the cell, and of the layer over it.
template <class C>
struct ConvLSTMFields {
  static constexpr auto fields = field_list(
      field("filters", &C::filters), fields_of<WindowFields>(), fields_of<LayoutFields>(),
      field("activation", &C::activation), field("recurrent_activation", &C::recurrent_activation),
      fields_of<CellKernelFields>(), field("unit_forget_bias", &C::unit_forget_bias),
      fields_of<CellTrainingFields>(), field("seed", &C::seed));
};

template <int rank>
struct KERATIN_API ConvLSTMCellConfig {
  int64_t filters = 0;
  Sizes kernel_size = 0;
  Sizes strides = 1;  // of the inputs; states keep their size
  std::string padding = "valid";
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;  // of the inputs
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
  double dropout = 0;            // of the inputs; a mask per gate, drawn once for a sequence
  double recurrent_dropout = 0;  // of the state, likewise
  std::optional<int64_t> seed = {};

  static constexpr std::string_view keras_name = "ConvLSTMCell";
  static constexpr auto call_arguments = arguments_of_call("inputs", "states", "training", "drawn");
  static constexpr auto fields = field_list(fields_of<ConvLSTMFields>());
};

// With σ the recurrent activation, for each gate its part of x ∗ kernel + h ∗ recurrent_kernel +
// bias, where the second convolution has stride 1 and padding "same":
//   i, f, o = σ(…), g = activation(…),  c ← f·c + i·g,  h ← o·activation(c),  y = h
// The gates are in the order i, f, g, o; the states are h, c. Spatial sizes must be known.
template <int rank>
class KERATIN_API ConvLSTMCellLayer final
    : public LayerOf<ConvLSTMCellLayer<rank>, ConvLSTMCellConfig<rank>, KerasCell> {
 public:
  ConvLSTMCellLayer(ConvLSTMCellConfig<rank> config, LayerOptions options);

  Tree<Shape> state_shapes() const override;
  Tree<Traced> draw(const Call& c, Value like, const Shape& features) const override;
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  using LayerOf<ConvLSTMCellLayer, ConvLSTMCellConfig<rank>, KerasCell>::cfg;

  Shape state_;  // the shape of a state, known once the cell is built
};

template <int rank>
using ConvLSTMCell = Shared<ConvLSTMCellLayer<rank>>;

template <int rank>
struct KERATIN_API ConvLSTMConfig {
  int64_t filters = 0;
  Sizes kernel_size = 0;
  Sizes strides = 1;
  std::string padding = "valid";
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  Activation activation = "tanh";
  Activation recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  bool unit_forget_bias = true;
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

  static constexpr std::string_view keras_name =
      std::array{"ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"}[rank - 1];
  static constexpr bool cell_has_activations = true;
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields =
      field_list(fields_of<RecurrentFields>(), fields_of<ConvLSTMFields>());
};

// The cell over a sequence [batch, time, spatial…, channels], or with channels_first
// [batch, time, channels, spatial…].
template <int rank>
class KERATIN_API ConvLSTMLayer final
    : public RecurrentOf<ConvLSTMLayer<rank>, ConvLSTMConfig<rank>> {
 public:
  ConvLSTMLayer(ConvLSTMConfig<rank> config, LayerOptions options);

 private:
  using RecurrentOf<ConvLSTMLayer, ConvLSTMConfig<rank>>::cfg;
};

extern template class ConvLSTMCellLayer<1>;
extern template class ConvLSTMCellLayer<2>;
extern template class ConvLSTMCellLayer<3>;
extern template class ConvLSTMLayer<1>;
extern template class ConvLSTMLayer<2>;
extern template class ConvLSTMLayer<3>;

using ConvLSTM1D = Shared<ConvLSTMLayer<1>>;
using ConvLSTM2D = Shared<ConvLSTMLayer<2>>;
using ConvLSTM3D = Shared<ConvLSTMLayer<3>>;

}  // namespace keratin
