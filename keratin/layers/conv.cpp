#include "keratin/layers/conv.h"

#include "keratin/base/text.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/conv.h"

namespace keratin {

template <int rank>
ConvLayer<rank>::ConvLayer(ConvConfig<rank> config, LayerOptions options)
    : LayerOf<ConvLayer, ConvConfig<rank>>(std::move(config), std::move(options)) {
  cfg.kernel_size = windows::sizes(cfg.kernel_size, rank, "kernel_size");
  cfg.strides = windows::sizes(cfg.strides, rank, "strides");
  cfg.dilation_rate = windows::sizes(cfg.dilation_rate, rank, "dilation_rate");
  cfg.padding = windows::padding(cfg.padding, rank == 1);
  cfg.data_format = windows::data_format(cfg.data_format);
  windows::check_filters(cfg.filters);
  require(cfg.groups > 0,
          "The number of groups must be a positive integer. Received: groups=", cfg.groups, ".");
  require(cfg.filters % cfg.groups == 0,
          "The number of filters must be evenly divisible by the number of groups. Received: "
          "groups=",
          cfg.groups, ", filters=", cfg.filters, ".");
  windows::refuse_strides_with_dilation(cfg.strides, cfg.dilation_rate);
  this->set_input_spec({{.min_ndim = rank + 2}});
}

template <int rank>
void ConvLayer<rank>::build(const Shapes& inputs) {
  const int64_t channels = windows::channels_of(*this, inputs[0], cfg.data_format);
  require(channels % cfg.groups == 0,
          "The number of input channels must be evenly divisible by the number of groups. Received "
          "groups=",
          cfg.groups, ", but the input has ", channels, " channels (full input shape is ",
          keras_shape(inputs[0]), ").");
  Dims shape = cfg.kernel_size.dims();
  shape.insert(shape.end(), {channels / cfg.groups, cfg.filters});
  kernel_ = this->add_weight(
      "kernel", shape, cfg.kernel_initializer,
      {.regularizer = cfg.kernel_regularizer, .constraint = cfg.kernel_constraint});
  if (cfg.use_bias)
    bias_ =
        this->add_weight("bias", {cfg.filters}, cfg.bias_initializer,
                         {.regularizer = cfg.bias_regularizer, .constraint = cfg.bias_constraint});
  this->set_input_spec(
      {{.min_ndim = rank + 2, .axes = {{windows::channel_axis(cfg.data_format), channels}}}});
}

template <int rank>
Results ConvLayer<rank>::call(const Call& c) const {
  const Value x = c.float_input();
  windows::check_fits(x.shape(), {"kernel_size", cfg.kernel_size, cfg.strides,
                                  cfg.dilation_rate.dims(), cfg.padding, cfg.data_format});
  Value y = ops::conv(x, c.read(kernel_),
                      {.strides = cfg.strides.dims(),
                       .dilations = cfg.dilation_rate.dims(),
                       .groups = cfg.groups,
                       .padding = cfg.padding},
                      cfg.data_format);
  if (cfg.use_bias) y = windows::add_bias(y, c.read(bias_), cfg.data_format);
  return cfg.activation(c, y);
}

template class ConvLayer<1>;
template class ConvLayer<2>;
template class ConvLayer<3>;

}  // namespace keratin
