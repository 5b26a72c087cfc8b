#include "keratin/layers/conv.h"

#include "keratin/base/text.h"
#include "keratin/layers/lora.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/conv.h"

namespace keratin {

template <class Base>
template <class Config>
void Convolution<Base>::check_arguments(Config& config, int rank, bool causal) {
  config.kernel_size = windows::sizes(config.kernel_size, rank, "kernel_size");
  config.strides = windows::sizes(config.strides, rank, "strides");
  config.dilation_rate = windows::sizes(config.dilation_rate, rank, "dilation_rate");
  config.padding = windows::padding(config.padding, causal);
  config.data_format = windows::data_format(config.data_format);
  this->set_input_spec({{.min_ndim = rank + 2}});
}

template <class Base>
template <class Config>
void Convolution<Base>::finish_build(const Config& config, int64_t channels, int64_t outputs) {
  if (config.use_bias)
    bias_ = this->add_weight(
        "bias", {outputs}, config.bias_initializer,
        {.regularizer = config.bias_regularizer, .constraint = config.bias_constraint});
  this->set_input_spec({{.min_ndim = this->input_specs()[0].min_ndim,
                         .axes = {{windows::channel_axis(config.data_format), channels}}}});
}

template <class Base>
template <class Config>
Results Convolution<Base>::with_bias(const Config& config, const Call& c, Value y) const {
  if (config.use_bias) y = windows::add_bias(y, c.read(bias_), config.data_format);
  return config.activation(c, y);
}

namespace {

// The shape of a kernel: the window, then the channels in and out.
template <class Config>
Dims kernel_shape(const Config& config, int64_t in, int64_t out) {
  Dims shape = config.kernel_size.dims();
  shape.insert(shape.end(), {in, out});
  return shape;
}

// The input; an error if no window fits in it.
template <class Config>
Value fitting_input(const Config& config, const Call& c) {
  const Value x = c.float_input();
  windows::check_fits(x.shape(), {"kernel_size", config.kernel_size, config.strides,
                                  config.dilation_rate.dims(), config.padding, config.data_format});
  return x;
}

// The attributes of the op; only ConvConfig has groups.
template <class Config>
ops::ConvAttrs options_of(const Config& config) {
  ops::ConvAttrs options{.strides = config.strides.dims(),
                         .dilations = config.dilation_rate.dims(),
                         .padding = config.padding};
  if constexpr (requires { config.groups; }) options.groups = config.groups;
  return options;
}

}  // namespace

template <int rank>
ConvLayer<rank>::ConvLayer(ConvConfig<rank> config, LayerOptions options)
    : LayerOf<ConvLayer, ConvConfig<rank>, Convolution<LoraLayer>>(std::move(config),
                                                                   std::move(options)) {
  this->check_arguments(cfg, rank, rank == 1);
  windows::check_filters(cfg.filters);
  require(cfg.groups > 0,
          "The number of groups must be a positive integer. Received: groups=", cfg.groups, ".");
  require(cfg.filters % cfg.groups == 0,
          "The number of filters must be evenly divisible by the number of groups. Received: "
          "groups=",
          cfg.groups, ", filters=", cfg.filters, ".");
  windows::refuse_strides_with_dilation(cfg.strides, cfg.dilation_rate);
  this->check_lora(cfg);
}

template <int rank>
void ConvLayer<rank>::build(const Shapes& inputs) {
  const int64_t channels = windows::channels_of(*this, inputs[0], cfg.data_format);
  require(channels % cfg.groups == 0,
          "The number of input channels must be evenly divisible by the number of groups. Received "
          "groups=",
          cfg.groups, ", but the input has ", channels, " channels (full input shape is ",
          keras_shape(inputs[0]), ").");
  kernel_ = this->add_weight(
      "kernel", kernel_shape(cfg, channels / cfg.groups, cfg.filters), cfg.kernel_initializer,
      {.regularizer = cfg.kernel_regularizer, .constraint = cfg.kernel_constraint});
  this->finish_build(cfg, channels, cfg.filters);
  if (cfg.lora_rank) enable_lora({.rank = *cfg.lora_rank, .alpha = cfg.lora_alpha});
}

template <int rank>
void ConvLayer<rank>::enable_lora(const LoraOptions& options) {
  this->add_lora(cfg, kernel_, options);
}

template <int rank>
Results ConvLayer<rank>::call(const Call& c) const {
  const Value x = fitting_input(cfg, c);
  const Value kernel = this->with_lora(c, kernel_);
  return this->with_bias(cfg, c, ops::conv(x, kernel, options_of(cfg), cfg.data_format));
}

template <int rank>
ConvTransposeLayer<rank>::ConvTransposeLayer(ConvTransposeConfig<rank> config, LayerOptions options)
    : LayerOf<ConvTransposeLayer, ConvTransposeConfig<rank>, Convolution<Layer>>(
          std::move(config), std::move(options)) {
  this->check_arguments(cfg, rank);
  windows::check_filters(cfg.filters);
  if (cfg.output_padding) check_output_padding();
  windows::refuse_strides_with_dilation(cfg.strides, cfg.dilation_rate);
}

template <int rank>
void ConvTransposeLayer<rank>::check_output_padding() {
  cfg.output_padding = windows::sizes(*cfg.output_padding, rank, "output_padding", 0);
  const Dims &more = cfg.output_padding->dims(), &strides = cfg.strides.dims();
  for (size_t i = 0; i < more.size(); ++i)
    require(more[i] < strides[i],
            "`output_padding` must be strictly less than `strides` for all dimensions. At "
            "dimension ",
            i, ", `output_padding` is ", more[i], " but `strides` is ", strides[i],
            ". Received: output_padding=", windows::tuple(more),
            ", strides=", windows::tuple(strides));
}

template <int rank>
void ConvTransposeLayer<rank>::build(const Shapes& inputs) {
  const int64_t channels = windows::channels_of(*this, inputs[0], cfg.data_format);
  kernel_ = this->add_weight(
      "kernel", kernel_shape(cfg, cfg.filters, channels), cfg.kernel_initializer,
      {.regularizer = cfg.kernel_regularizer, .constraint = cfg.kernel_constraint});
  this->finish_build(cfg, channels, cfg.filters);
}

template <int rank>
Results ConvTransposeLayer<rank>::call(const Call& c) const {
  const Value y = ops::conv_transpose(
      c.float_input(), c.read(kernel_),
      {.strides = cfg.strides.dims(),
       .dilations = cfg.dilation_rate.dims(),
       .padding = cfg.padding,
       .output_padding = cfg.output_padding ? cfg.output_padding->dims() : Dims{}},
      cfg.data_format);
  return this->with_bias(cfg, c, y);
}

template <int rank>
DepthwiseConvLayer<rank>::DepthwiseConvLayer(DepthwiseConvConfig<rank> config, LayerOptions options)
    : LayerOf<DepthwiseConvLayer, DepthwiseConvConfig<rank>, Convolution<Layer>>(
          std::move(config), std::move(options)) {
  this->check_arguments(cfg, rank);
  windows::check_multiplier(cfg.depth_multiplier);
}

template <int rank>
void DepthwiseConvLayer<rank>::build(const Shapes& inputs) {
  const int64_t channels = windows::channels_of(*this, inputs[0], cfg.data_format);
  kernel_ = this->add_weight(
      "kernel", kernel_shape(cfg, channels, cfg.depth_multiplier), cfg.depthwise_initializer,
      {.regularizer = cfg.depthwise_regularizer, .constraint = cfg.depthwise_constraint});
  this->finish_build(cfg, channels, Shape({channels, cfg.depth_multiplier}).count());
}

template <int rank>
Results DepthwiseConvLayer<rank>::call(const Call& c) const {
  const Value x = fitting_input(cfg, c);
  return this->with_bias(cfg, c,
                         ops::depthwise_conv(x, c.read(kernel_), options_of(cfg), cfg.data_format));
}

template <int rank>
SeparableConvLayer<rank>::SeparableConvLayer(SeparableConvConfig<rank> config, LayerOptions options)
    : LayerOf<SeparableConvLayer, SeparableConvConfig<rank>, Convolution<Layer>>(
          std::move(config), std::move(options)) {
  this->check_arguments(cfg, rank);
  windows::check_multiplier(cfg.depth_multiplier);
  windows::check_filters(cfg.filters);
}

template <int rank>
void SeparableConvLayer<rank>::build(const Shapes& inputs) {
  const int64_t channels = windows::channels_of(*this, inputs[0], cfg.data_format);
  Dims pointwise(static_cast<size_t>(rank), 1);
  pointwise.insert(pointwise.end(), {Shape({channels, cfg.depth_multiplier}).count(), cfg.filters});
  depthwise_ = this->add_weight(
      "depthwise_kernel", kernel_shape(cfg, channels, cfg.depth_multiplier),
      cfg.depthwise_initializer,
      {.regularizer = cfg.depthwise_regularizer, .constraint = cfg.depthwise_constraint});
  pointwise_ = this->add_weight(
      "pointwise_kernel", pointwise, cfg.pointwise_initializer,
      {.regularizer = cfg.pointwise_regularizer, .constraint = cfg.pointwise_constraint});
  this->finish_build(cfg, channels, cfg.filters);
}

template <int rank>
Results SeparableConvLayer<rank>::call(const Call& c) const {
  const Value x = fitting_input(cfg, c);
  return this->with_bias(cfg, c,
                         ops::separable_conv(x, c.read(depthwise_), c.read(pointwise_),
                                             options_of(cfg), cfg.data_format));
}

template class ConvLayer<1>;
template class ConvLayer<2>;
template class ConvLayer<3>;
template class ConvTransposeLayer<1>;
template class ConvTransposeLayer<2>;
template class ConvTransposeLayer<3>;
template class DepthwiseConvLayer<1>;
template class DepthwiseConvLayer<2>;
template class SeparableConvLayer<1>;
template class SeparableConvLayer<2>;

}  // namespace keratin
