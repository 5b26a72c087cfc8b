#pragma once

#include <array>

#include "keratin/base/export.h"
#include "keratin/layers/dense.h"

// The convolutions: plain, transposed, depthwise, separable and locally connected.
namespace keratin {

// The fields of the window that moves over the input, and of its layout.
template <class C>
struct WindowFields {
  static constexpr auto fields =
      field_list(field("kernel_size", &C::kernel_size), field("strides", &C::strides),
                 field("padding", &C::padding));
};
template <class C>
struct LayoutFields {
  static constexpr auto fields =
      field_list(field("data_format", &C::data_format), field("dilation_rate", &C::dilation_rate));
};

// What all convolutions share; `Config` is the config of one kind. `Base` is LoraLayer for those
// that can have LoRA.
template <class Base>
class KERATIN_API Convolution : public Base {
 protected:
  using Base::Base;

  // Brings the arguments that all kinds have to Keras's form, and refuses what it refuses.
  template <class Config>
  void check_arguments(Config& config, int rank, bool causal = false);
  // Adds the bias; from now on inputs must have this many channels.
  template <class Config>
  void finish_build(const Config& config, int64_t channels, int64_t outputs);
  // activation(y + bias)
  template <class Config>
  Results with_bias(const Config& config, const Call& c, Value y) const;

 private:
  Variable bias_;
};

template <int rank>
struct KERATIN_API ConvConfig {
  int64_t filters = 0;
  Sizes kernel_size = 0;
  Sizes strides = 1;
  std::string padding = "valid";  // or same; for one axis, causal too
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  int64_t groups = 1;
  Activation activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  std::optional<int64_t> lora_rank = {};
  std::optional<double> lora_alpha = {};  // default: the rank

  static constexpr std::string_view keras_name = std::array{"Conv1D", "Conv2D", "Conv3D"}[rank - 1];
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(
      field("filters", &ConvConfig::filters), fields_of<WindowFields>(), fields_of<LayoutFields>(),
      field("groups", &ConvConfig::groups), fields_of<ActivationAndBiasFields>(),
      fields_of<KernelAndBiasFields>(), fields_of<LoraFields>());
};

// y = activation(kernel ∗ x + bias), see ops::conv.
template <int rank>
class KERATIN_API ConvLayer final
    : public LayerOf<ConvLayer<rank>, ConvConfig<rank>, Convolution<LoraLayer>> {
 public:
  ConvLayer(ConvConfig<rank> config, LayerOptions options);

  void enable_lora(const LoraOptions& options);
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  using LayerOf<ConvLayer, ConvConfig<rank>, Convolution<LoraLayer>>::cfg;
  Variable kernel_;
};

template <int rank>
struct KERATIN_API ConvTransposeConfig {
  int64_t filters = 0;
  Sizes kernel_size = 0;
  Sizes strides = 1;
  std::string padding = "valid";
  std::optional<Sizes> output_padding = {};  // less than the strides
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  Activation activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};

  static constexpr std::string_view keras_name =
      std::array{"Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"}[rank - 1];
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(
      field("filters", &ConvTransposeConfig::filters), fields_of<WindowFields>(),
      field("output_padding", &ConvTransposeConfig::output_padding), fields_of<LayoutFields>(),
      fields_of<ActivationAndBiasFields>(), fields_of<KernelAndBiasFields>());
};

// The gradient of a convolution: each input spreads over a window, see ops::conv_transpose.
template <int rank>
class KERATIN_API ConvTransposeLayer final
    : public LayerOf<ConvTransposeLayer<rank>, ConvTransposeConfig<rank>, Convolution<Layer>> {
 public:
  ConvTransposeLayer(ConvTransposeConfig<rank> config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  using LayerOf<ConvTransposeLayer, ConvTransposeConfig<rank>, Convolution<Layer>>::cfg;
  void check_output_padding();

  Variable kernel_;
};

template <int rank>
struct KERATIN_API DepthwiseConvConfig {
  int64_t depth_multiplier = 1;
  Sizes kernel_size = 0;
  Sizes strides = 1;
  std::string padding = "valid";
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  Activation activation = "linear";
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint depthwise_constraint = {};
  Constraint bias_constraint = {};

  static constexpr std::string_view keras_name =
      std::array{"DepthwiseConv1D", "DepthwiseConv2D"}[rank - 1];
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(
      field("depth_multiplier", &DepthwiseConvConfig::depth_multiplier), fields_of<WindowFields>(),
      fields_of<LayoutFields>(), fields_of<ActivationAndBiasFields>(),
      field("depthwise_initializer", &DepthwiseConvConfig::depthwise_initializer),
      field("bias_initializer", &DepthwiseConvConfig::bias_initializer),
      field("depthwise_regularizer", &DepthwiseConvConfig::depthwise_regularizer),
      field("bias_regularizer", &DepthwiseConvConfig::bias_regularizer),
      field("depthwise_constraint", &DepthwiseConvConfig::depthwise_constraint),
      field("bias_constraint", &DepthwiseConvConfig::bias_constraint));
};

// Each channel convolved by itself, into depth_multiplier channels.
template <int rank>
class KERATIN_API DepthwiseConvLayer final
    : public LayerOf<DepthwiseConvLayer<rank>, DepthwiseConvConfig<rank>, Convolution<Layer>> {
 public:
  DepthwiseConvLayer(DepthwiseConvConfig<rank> config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  using LayerOf<DepthwiseConvLayer, DepthwiseConvConfig<rank>, Convolution<Layer>>::cfg;
  Variable kernel_;
};

template <int rank>
struct KERATIN_API SeparableConvConfig {
  int64_t filters = 0;
  Sizes kernel_size = 0;
  Sizes strides = 1;
  std::string padding = "valid";
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  int64_t depth_multiplier = 1;
  Activation activation = "linear";
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer pointwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {};
  Regularizer pointwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint depthwise_constraint = {};
  Constraint pointwise_constraint = {};
  Constraint bias_constraint = {};

  static constexpr std::string_view keras_name =
      std::array{"SeparableConv1D", "SeparableConv2D"}[rank - 1];
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields =
      field_list(field("depth_multiplier", &SeparableConvConfig::depth_multiplier),
                 field("filters", &SeparableConvConfig::filters), fields_of<WindowFields>(),
                 fields_of<LayoutFields>(), fields_of<ActivationAndBiasFields>(),
                 field("depthwise_initializer", &SeparableConvConfig::depthwise_initializer),
                 field("pointwise_initializer", &SeparableConvConfig::pointwise_initializer),
                 field("bias_initializer", &SeparableConvConfig::bias_initializer),
                 field("depthwise_regularizer", &SeparableConvConfig::depthwise_regularizer),
                 field("pointwise_regularizer", &SeparableConvConfig::pointwise_regularizer),
                 field("bias_regularizer", &SeparableConvConfig::bias_regularizer),
                 field("depthwise_constraint", &SeparableConvConfig::depthwise_constraint),
                 field("pointwise_constraint", &SeparableConvConfig::pointwise_constraint),
                 field("bias_constraint", &SeparableConvConfig::bias_constraint));
};

// Each channel convolved by itself, then the channels of each position mixed.
template <int rank>
class KERATIN_API SeparableConvLayer final
    : public LayerOf<SeparableConvLayer<rank>, SeparableConvConfig<rank>, Convolution<Layer>> {
 public:
  SeparableConvLayer(SeparableConvConfig<rank> config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  using LayerOf<SeparableConvLayer, SeparableConvConfig<rank>, Convolution<Layer>>::cfg;
  Variable depthwise_, pointwise_;
};

template <int rank>
struct KERATIN_API LocallyConnectedConfig {
  int64_t filters = 0;
  Sizes kernel_size = 0;
  Sizes strides = 1;
  std::string padding = "valid";  // or same, but not with implementation 1
  std::string data_format = "channels_last";
  Activation activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  // The form of the kernel: 1 has a matrix for each position, 2 one matrix between all inputs and
  // outputs, of which most elements do not count, 3 a vector of those that count.
  int64_t implementation = 1;

  static constexpr std::string_view keras_name =
      std::array{"LocallyConnected1D", "LocallyConnected2D"}[rank - 1];
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields =
      field_list(field("filters", &LocallyConnectedConfig::filters), fields_of<WindowFields>(),
                 field("data_format", &LocallyConnectedConfig::data_format),
                 fields_of<ActivationAndBiasFields>(), fields_of<KernelAndBiasFields>(),
                 field("implementation", &LocallyConnectedConfig::implementation));
};

// y[o] = activation(kernel[o] · window o of x + bias[o]): each position has a kernel of its own.
// Only Keras 2 has it.
template <int rank>
class KERATIN_API LocallyConnectedLayer final
    : public LayerOf<LocallyConnectedLayer<rank>, LocallyConnectedConfig<rank>> {
 public:
  LocallyConnectedLayer(LocallyConnectedConfig<rank> config, LayerOptions options);

  // Only Keras 2 has the class.
  std::string_view module() const override { return "tf_keras.layers"; }
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  using LayerOf<LocallyConnectedLayer, LocallyConnectedConfig<rank>>::cfg;
  struct Geometry;
  Geometry geometry(const Shape& input) const;
  void check_count(const Geometry& g) const;
  Shape kernel_shape(const Geometry& g) const;
  Value by_window(const Call& c, Value x, const Geometry& g) const;
  Value by_mask(const Call& c, Value x, const Geometry& g) const;
  Value by_elements(const Call& c, Value x, const Geometry& g) const;

  Variable kernel_, bias_;
};

extern template class ConvLayer<1>;
extern template class ConvLayer<2>;
extern template class ConvLayer<3>;
extern template class ConvTransposeLayer<1>;
extern template class ConvTransposeLayer<2>;
extern template class ConvTransposeLayer<3>;
extern template class DepthwiseConvLayer<1>;
extern template class DepthwiseConvLayer<2>;
extern template class SeparableConvLayer<1>;
extern template class SeparableConvLayer<2>;
extern template class LocallyConnectedLayer<1>;
extern template class LocallyConnectedLayer<2>;

using Conv1D = Shared<ConvLayer<1>>;
using Conv2D = Shared<ConvLayer<2>>;
using Conv3D = Shared<ConvLayer<3>>;
using Conv1DTranspose = Shared<ConvTransposeLayer<1>>;
using Conv2DTranspose = Shared<ConvTransposeLayer<2>>;
using Conv3DTranspose = Shared<ConvTransposeLayer<3>>;
using DepthwiseConv1D = Shared<DepthwiseConvLayer<1>>;
using DepthwiseConv2D = Shared<DepthwiseConvLayer<2>>;
using SeparableConv1D = Shared<SeparableConvLayer<1>>;
using SeparableConv2D = Shared<SeparableConvLayer<2>>;
using LocallyConnected1D = Shared<LocallyConnectedLayer<1>>;
using LocallyConnected2D = Shared<LocallyConnectedLayer<2>>;

}  // namespace keratin
