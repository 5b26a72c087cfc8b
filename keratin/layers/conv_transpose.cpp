#include "keratin/layers/conv_transpose.h"

#include "keratin/base/text.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/conv.h"

namespace keratin {

template <int rank>
ConvTransposeLayer<rank>::ConvTransposeLayer(ConvTransposeConfig<rank> config, LayerOptions options)
    : LayerOf<ConvTransposeLayer, ConvTransposeConfig<rank>>(std::move(config),
                                                             std::move(options)) {
  cfg.kernel_size = windows::sizes(cfg.kernel_size, rank, "kernel_size");
  cfg.strides = windows::sizes(cfg.strides, rank, "strides");
  cfg.dilation_rate = windows::sizes(cfg.dilation_rate, rank, "dilation_rate");
  cfg.padding = windows::padding(cfg.padding);
  cfg.data_format = windows::data_format(cfg.data_format);
  windows::check_filters(cfg.filters);
  if (cfg.output_padding) check_output_padding();
  windows::refuse_strides_with_dilation(cfg.strides, cfg.dilation_rate);
  this->set_input_spec({{.min_ndim = rank + 2}});
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
  Dims shape = cfg.kernel_size.dims();
  shape.insert(shape.end(), {cfg.filters, channels});
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
Results ConvTransposeLayer<rank>::call(const Call& c) const {
  Value y = ops::conv_transpose(
      c.float_input(), c.read(kernel_),
      {.strides = cfg.strides.dims(),
       .dilations = cfg.dilation_rate.dims(),
       .padding = cfg.padding,
       .output_padding = cfg.output_padding ? cfg.output_padding->dims() : Dims{}},
      cfg.data_format);
  if (cfg.use_bias) y = windows::add_bias(y, c.read(bias_), cfg.data_format);
  return cfg.activation(c, y);
}

template class ConvTransposeLayer<1>;
template class ConvTransposeLayer<2>;
template class ConvTransposeLayer<3>;

}  // namespace keratin
