#include "keratin/layers/conv_lstm.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/layers/gates.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

constexpr int64_t conv_lstm_gates = 4;

// Brings the arguments to Keras's form, and refuses what it refuses.
template <class Config>
void check_window(Config& config, int rank) {
  windows::check_filters(config.filters);
  config.kernel_size = windows::sizes(config.kernel_size, rank, "kernel_size");
  config.strides = windows::sizes(config.strides, rank, "strides", /*min=*/0);
  config.dilation_rate = windows::sizes(config.dilation_rate, rank, "dilation_rate");
  config.padding = windows::padding(config.padding);
  config.data_format = windows::data_format(config.data_format);
  const auto above_one = [](const Sizes& sizes) {
    return std::any_of(sizes.dims().begin(), sizes.dims().end(), [](int64_t n) { return n > 1; });
  };
  require(!above_one(config.strides) || !above_one(config.dilation_rate),
          "Specifying `strides > 1` is not compatible with `dilation_rate > 1`. Please provide "
          "`strides=1` or `dilation_rate=1`. Received: strides=",
          windows::tuple(config.strides.dims()),
          " and dilation_rate=", windows::tuple(config.dilation_rate.dims()));
}

// The spatial sizes of a step, which must be known, and its channels.
template <class Config>
Dims spatial_sizes(const Config& config, const Shape& step) {
  const int64_t first = config.data_format == "channels_first" ? 2 : 1;
  Dims sizes;
  for (size_t i = 0; i < config.kernel_size.dims().size(); ++i)
    sizes.push_back(step[first + static_cast<int64_t>(i)]);
  require(std::count(sizes.begin(), sizes.end(), unknown) == 0,
          "ConvLSTM layers only support static input shapes for the spatial dimension. Received "
          "invalid input shape: input_shape=",
          keras_shape(step));
  return sizes;
}

// The shape of a state: that of the output of the inputs' convolution.
template <class Config>
Shape state_shape(const Config& config, const Shape& step) {
  const Dims sizes = spatial_sizes(config, step);
  require(std::count(config.strides.dims().begin(), config.strides.dims().end(), 0) == 0,
          "expected positive strides, got ", windows::tuple(config.strides.dims()));
  windows::check_fits(step, {"kernel_size", config.kernel_size, config.strides,
                             config.dilation_rate.dims(), config.padding, config.data_format});
  Dims image{1};
  image.insert(image.end(), sizes.begin(), sizes.end());
  image.push_back(1);
  const ops::WindowAxes axes = ops::slide(
      config.keras_name, Shape(image), config.kernel_size.dims(),
      {config.strides.dims(), config.dilation_rate.dims(), config.padding, Dims{}, Dims{}});
  Dims state;
  for (size_t i = axes.size() - sizes.size(); i < axes.size(); ++i) state.push_back(axes[i].output);
  state.insert(config.data_format == "channels_first" ? state.begin() : state.end(),
               config.filters);
  return Shape(state);
}

// Convolutions by the kernels of all gates, side by side along the channels, with x masked for each
// gate if there are masks.
Value convolved(Value x, const Values& masks, Value kernel, const ops::ConvAttrs& attrs,
                const std::string& data_format) {
  if (masks.empty()) return ops::conv(x, kernel, attrs, data_format);
  const Values kernels = ops::split(kernel, conv_lstm_gates, -1);
  Values gates;
  for (size_t g = 0; g < kernels.size(); ++g)
    gates.push_back(ops::conv(x * masks[g], kernels[g], attrs, data_format));
  return ops::concatenate(gates, windows::channel_axis(data_format));
}

}  // namespace

template <int rank>
ConvLSTMCellLayer<rank>::ConvLSTMCellLayer(ConvLSTMCellConfig<rank> config, LayerOptions options)
    : LayerOf<ConvLSTMCellLayer, ConvLSTMCellConfig<rank>, KerasCell>(std::move(config),
                                                                      std::move(options)) {
  check_window(cfg, rank);
  this->check_dropout(cfg);
  this->set_input_spec({{.ndim = rank + 2}});
}

template <int rank>
Tree<Shape> ConvLSTMCellLayer<rank>::state_shapes() const {
  return Tree<Shape>::List{state_, state_};
}

template <int rank>
Tree<Traced> ConvLSTMCellLayer<rank>::draw(const Call& c, Value like, const Shape& features) const {
  const CellDropout dropout =
      gate_dropout(cfg.dropout, cfg.recurrent_dropout, /*implementation=*/1, conv_lstm_gates);
  return draw_masks(c, this->seed(), dropout, like, features, state_, this->compute_dtype());
}

template <int rank>
void ConvLSTMCellLayer<rank>::build(const Shapes& inputs) {
  const Shape& step = inputs[0];
  require(step.rank() == rank + 2, cfg.keras_name, " '", this->name(),
          "': expected a step of shape (batch, ", rank, " spatial sizes and channels), got ",
          keras_shape(step));
  state_ = state_shape(cfg, step);
  const int64_t channels = step[windows::channel_axis(cfg.data_format) < 0 ? rank + 1 : 1];
  require(channels != unknown,
          "The channel dimension of the inputs (last axis) should be defined. Found None. Full "
          "input shape received: input_shape=",
          keras_shape(step));
  const int64_t outputs = Shape({conv_lstm_gates, cfg.filters}).count();
  Dims kernel = cfg.kernel_size.dims(), recurrent = kernel;
  kernel.insert(kernel.end(), {channels, outputs});
  recurrent.insert(recurrent.end(), {cfg.filters, outputs});
  this->add_kernels(cfg, Shape(kernel), Shape(recurrent));
  this->build_bias(
      cfg, {outputs},
      cfg.unit_forget_bias ? forget_ones(cfg.bias_initializer, cfg.filters) : cfg.bias_initializer);
  InputSpec spec{.ndim = rank + 2};
  for (int64_t axis = 1; axis < step.rank(); ++axis) spec.axes[axis] = step[axis];
  this->set_input_spec({spec});
}

template <int rank>
Results ConvLSTMCellLayer<rank>::call(const Call& c) const {
  const Value x = c.float_input();
  const Values before = this->states(c);
  const DrawnMasks masks = step_masks(c, *this, x);
  const ops::ConvAttrs of_inputs{
      .strides = cfg.strides.dims(), .dilations = cfg.dilation_rate.dims(), .padding = cfg.padding};
  Value sum = convolved(x, masks.inputs, c.read(this->kernel()), of_inputs, cfg.data_format);
  if (cfg.use_bias) sum = windows::add_bias(sum, c.read(this->bias()), cfg.data_format);
  sum = sum + convolved(before[0], masks.states, c.read(this->recurrent()), {.padding = "same"},
                        cfg.data_format);
  const Values z = ops::split(sum, conv_lstm_gates, windows::channel_axis(cfg.data_format));
  const Value i = cfg.recurrent_activation(c, z[0]), f = cfg.recurrent_activation(c, z[1]);
  const Value cell = f * before[1] + i * cfg.activation(c, z[2]);
  const Value h = cfg.recurrent_activation(c, z[3]) * cfg.activation(c, cell);
  return this->stepped(c, h, {h, cell});
}

template <int rank>
ConvLSTMLayer<rank>::ConvLSTMLayer(ConvLSTMConfig<rank> config, LayerOptions options)
    : RecurrentOf<ConvLSTMLayer, ConvLSTMConfig<rank>>(std::move(config), std::move(options)) {
  check_window(cfg, rank);
  cfg.dropout = clamp_rate(cfg.dropout);
  cfg.recurrent_dropout = clamp_rate(cfg.recurrent_dropout);
  this->template make_cell<ConvLSTMCellLayer<rank>, ConvLSTMFields>("conv_lstm_cell");
  this->set_input_spec({{.ndim = rank + 3}});
}

template class ConvLSTMCellLayer<1>;
template class ConvLSTMCellLayer<2>;
template class ConvLSTMCellLayer<3>;
template class ConvLSTMLayer<1>;
template class ConvLSTMLayer<2>;
template class ConvLSTMLayer<3>;

}  // namespace keratin
