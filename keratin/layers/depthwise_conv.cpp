#include "keratin/layers/depthwise_conv.h"

#include "keratin/layers/windows.h"
#include "keratin/ops/conv.h"

namespace keratin {

template <int rank>
DepthwiseConvLayer<rank>::DepthwiseConvLayer(DepthwiseConvConfig<rank> config, LayerOptions options)
    : LayerOf<DepthwiseConvLayer, DepthwiseConvConfig<rank>>(std::move(config),
                                                             std::move(options)) {
  cfg.kernel_size = windows::sizes(cfg.kernel_size, rank, "kernel_size");
  cfg.strides = windows::sizes(cfg.strides, rank, "strides");
  cfg.dilation_rate = windows::sizes(cfg.dilation_rate, rank, "dilation_rate");
  cfg.padding = windows::padding(cfg.padding);
  cfg.data_format = windows::data_format(cfg.data_format);
  windows::check_multiplier(cfg.depth_multiplier);
  this->set_input_spec({{.min_ndim = rank + 2}});
}

template <int rank>
void DepthwiseConvLayer<rank>::build(const Shapes& inputs) {
  const int64_t channels = windows::channels_of(*this, inputs[0], cfg.data_format);
  Dims shape = cfg.kernel_size.dims();
  shape.insert(shape.end(), {channels, cfg.depth_multiplier});
  kernel_ = this->add_weight(
      "kernel", shape, cfg.depthwise_initializer,
      {.regularizer = cfg.depthwise_regularizer, .constraint = cfg.depthwise_constraint});
  if (cfg.use_bias)
    bias_ = this->add_weight(
        "bias", {Shape({channels, cfg.depth_multiplier}).count()}, cfg.bias_initializer,
        {.regularizer = cfg.bias_regularizer, .constraint = cfg.bias_constraint});
  this->set_input_spec(
      {{.min_ndim = rank + 2, .axes = {{windows::channel_axis(cfg.data_format), channels}}}});
}

template <int rank>
Results DepthwiseConvLayer<rank>::call(const Call& c) const {
  const Value x = c.float_input();
  windows::check_fits(x.shape(), {"kernel_size", cfg.kernel_size, cfg.strides,
                                  cfg.dilation_rate.dims(), cfg.padding, cfg.data_format});
  Value y = ops::depthwise_conv(x, c.read(kernel_),
                                {.strides = cfg.strides.dims(),
                                 .dilations = cfg.dilation_rate.dims(),
                                 .padding = cfg.padding},
                                cfg.data_format);
  if (cfg.use_bias) y = windows::add_bias(y, c.read(bias_), cfg.data_format);
  return cfg.activation(c, y);
}

template class DepthwiseConvLayer<1>;
template class DepthwiseConvLayer<2>;

}  // namespace keratin
