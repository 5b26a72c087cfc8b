#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/layers/conv.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

constexpr int64_t max_elements = int64_t{1} << 26;

// The positions of the input, row by row, that a window reads.
std::vector<int64_t> positions_of(const Dims& begin, const Dims& end, const Dims& input) {
  std::vector<int64_t> found{0};
  for (size_t axis = 0; axis < input.size(); ++axis) {
    std::vector<int64_t> longer;
    for (const int64_t at : found)
      for (int64_t i = begin[axis]; i < end[axis]; ++i) longer.push_back(at * input[axis] + i);
    found = std::move(longer);
  }
  return found;
}

Value constant_indices(const Call& c, const Shape& shape, const std::vector<int32_t>& values) {
  return ops::constant(c.block(), Tensor::of<int32_t>(DType::i32, shape, values));
}

}  // namespace

// The sizes of a call, and which elements of the input each output position reads.
template <int rank>
struct LocallyConnectedLayer<rank>::Geometry {
  Dims input, output;  // along the spatial axes
  int64_t channels = 0;
  bool last = true;  // the layout
  int64_t filters = 0;
  Dims window, strides;
  bool same = false;

  int64_t in() const { return Shape(input).count(); }
  int64_t out() const { return Shape(output).count(); }

  // The positions that output position o reads. With padding, windows are centred.
  std::vector<int64_t> reads(int64_t o) const {
    Dims begin(input.size()), end(input.size());
    for (size_t axis = input.size(); axis-- > 0; o /= output[axis]) {
      const int64_t first = o % output[axis] * strides[axis] - (same ? window[axis] / 2 : 0);
      begin[axis] = std::max<int64_t>(0, first);
      end[axis] = std::min(input[axis], first + window[axis]);
    }
    return positions_of(begin, end, input);
  }
  // The same with channels, as positions in a sample, in ascending order.
  std::vector<int64_t> elements(int64_t o) const {
    std::vector<int64_t> found;
    for (const int64_t at : reads(o))
      for (int64_t c = 0; c < channels; ++c)
        found.push_back(last ? at * channels + c : c * in() + at);
    if (!last) std::sort(found.begin(), found.end());
    return found;
  }
  // The element of a sample's output at position o of filter f.
  int64_t output_element(int64_t o, int64_t f) const {
    return last ? o * filters + f : f * out() + o;
  }
  Dims output_shape() const {
    Dims shape = output;
    shape.insert(last ? shape.end() : shape.begin(), filters);
    shape.insert(shape.begin(), ops::infer_size);
    return shape;
  }
};

template <int rank>
LocallyConnectedLayer<rank>::LocallyConnectedLayer(LocallyConnectedConfig<rank> config,
                                                   LayerOptions options)
    : LayerOf<LocallyConnectedLayer, LocallyConnectedConfig<rank>>(std::move(config),
                                                                   std::move(options)) {
  cfg.kernel_size = windows::sizes(cfg.kernel_size, rank, "kernel_size");
  cfg.strides = windows::sizes(cfg.strides, rank, "strides");
  cfg.padding = windows::padding(cfg.padding);
  cfg.data_format = windows::data_format(cfg.data_format);
  windows::check_filters(cfg.filters);
  require(cfg.implementation >= 1 && cfg.implementation <= 3,
          "Unrecognized implementation mode: ", cfg.implementation, ".");
  require(cfg.padding == "valid" || cfg.implementation != 1, "Invalid border mode for ",
          this->class_name(),
          " (only \"valid\" is supported if implementation is 1): ", cfg.padding);
  this->set_input_spec({{.ndim = rank + 2}});
}

// The tables of positions have as many elements as windows read, the kernel of the implementations
// 2 and 3 stands in a matrix.
template <int rank>
void LocallyConnectedLayer<rank>::check_count(const Geometry& g) const {
  const auto of_second = [](const Dims& sizes) { return rank == 1 ? 1 : sizes.back(); };
  const auto few = [](std::initializer_list<int64_t> sizes) {
    int64_t count = 1;
    return std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) {
      if (size > max_elements / count) return false;
      count *= std::max<int64_t>(size, 1);
      return true;
    });
  };
  const bool fits =
      cfg.implementation == 1
          ? few({g.output[0], of_second(g.output), g.window[0], of_second(g.window), g.channels})
          : few({g.input[0], of_second(g.input), g.channels, g.output[0], of_second(g.output),
                 g.filters});
  require(fits, this->class_name(), " '", this->name(), "': expected at most ", max_elements,
          " pairs of inputs and outputs");
}

template <int rank>
typename LocallyConnectedLayer<rank>::Geometry LocallyConnectedLayer<rank>::geometry(
    const Shape& input) const {
  Geometry g{.last = cfg.data_format == "channels_last",
             .filters = cfg.filters,
             .window = cfg.kernel_size.dims(),
             .strides = cfg.strides.dims(),
             .same = cfg.padding == "same"};
  g.channels = windows::channels_of(*this, input, cfg.data_format);
  for (int64_t axis = 0; axis < rank; ++axis) {
    const auto i = static_cast<size_t>(axis);
    const int64_t size = input[axis + (g.last ? 1 : 2)];
    require(size != unknown, "The spatial dimensions of the inputs to  a ", this->class_name(),
            " layer should be fully-defined, but layer received the inputs shape ",
            keras_shape(input));
    const int64_t room = g.same ? size : size - g.window[i] + 1;
    require(room > 0, "One of the dimensions in the output is <= 0 due to downsampling in ",
            this->name(), ". Consider increasing the input size. Received input shape ",
            keras_shape(input),
            " which would produce output shape with a zero or negative value in a dimension.");
    g.input.push_back(size);
    g.output.push_back((room - 1) / g.strides[i] + 1);
    g.window[i] = std::min(g.window[i], size + size);  // no window reads more
  }
  check_count(g);
  return g;
}

template <int rank>
Shape LocallyConnectedLayer<rank>::kernel_shape(const Geometry& g) const {
  if (cfg.implementation == 1) return {g.out(), Shape(g.window).count() * g.channels, g.filters};
  if (cfg.implementation == 2) {
    Dims shape = g.input;
    shape.insert(g.last ? shape.end() : shape.begin(), g.channels);
    Dims output = g.output;
    output.insert(g.last ? output.end() : output.begin(), g.filters);
    shape.insert(shape.end(), output.begin(), output.end());
    return Shape(shape);
  }
  int64_t count = 0;
  for (int64_t o = 0; o < g.out(); ++o) count += static_cast<int64_t>(g.reads(o).size());
  return {count * g.channels * g.filters};
}

template <int rank>
void LocallyConnectedLayer<rank>::build(const Shapes& inputs) {
  const Geometry g = geometry(inputs[0]);
  kernel_ = this->add_weight(
      "kernel", kernel_shape(g), cfg.kernel_initializer,
      {.regularizer = cfg.kernel_regularizer, .constraint = cfg.kernel_constraint});
  if (cfg.use_bias) {
    Dims shape = g.output;
    shape.push_back(g.filters);
    bias_ =
        this->add_weight("bias", Shape(shape), cfg.bias_initializer,
                         {.regularizer = cfg.bias_regularizer, .constraint = cfg.bias_constraint});
  }
  this->set_input_spec(
      {{.ndim = rank + 2, .axes = {{windows::channel_axis(cfg.data_format), g.channels}}}});
}

// kernel[o] is a matrix [elements of window o, filters].
template <int rank>
Value LocallyConnectedLayer<rank>::by_window(const Call& c, Value x, const Geometry& g) const {
  std::vector<int32_t> all;
  for (int64_t o = 0; o < g.out(); ++o)
    for (const int64_t element : g.elements(o)) all.push_back(static_cast<int32_t>(element));
  const Shape shape = {g.out(), kernel_.shape()[1]};
  const Value read = ops::take(x, constant_indices(c, shape, all), 1);
  const Value y = ops::matmul(ops::transpose(read, {1, 0, 2}), c.read(kernel_));
  return ops::transpose(y, g.last ? Dims{1, 0, 2} : Dims{1, 2, 0});
}

// The kernel is a matrix [elements of the input, elements of the output].
template <int rank>
Value LocallyConnectedLayer<rank>::by_mask(const Call& c, Value x, const Geometry& g) const {
  std::vector<float> mask(static_cast<size_t>(g.in() * g.out()), 0.0F);
  for (int64_t o = 0; o < g.out(); ++o)
    for (const int64_t at : g.reads(o)) mask[static_cast<size_t>(at * g.out() + o)] = 1;
  const Value kernel =
      ops::reshape(c.read(kernel_), g.last ? Dims{g.in(), g.channels, g.out(), g.filters}
                                           : Dims{g.channels, g.in(), g.filters, g.out()});
  const Shape shape = g.last ? Shape{g.in(), 1, g.out(), 1} : Shape{1, g.in(), 1, g.out()};
  const Value counted = kernel * ops::constant(c.block(), Tensor::of(kernel.dtype(), shape, mask));
  return ops::matmul(x, ops::reshape(counted, {g.in() * g.channels, g.out() * g.filters}));
}

// The kernel has the elements of a matrix [elements of the output, elements of the input] that
// count, row by row.
template <int rank>
Value LocallyConnectedLayer<rank>::by_elements(const Call& c, Value x, const Geometry& g) const {
  const int64_t rows = g.out() * g.filters, columns = g.in() * g.channels;
  std::vector<std::vector<int64_t>> read(static_cast<size_t>(rows));
  for (int64_t o = 0; o < g.out(); ++o)
    for (int64_t f = 0; f < g.filters; ++f)
      read[static_cast<size_t>(g.output_element(o, f))] = g.elements(o);
  std::vector<int32_t> all;
  for (int64_t row = 0; row < rows; ++row)
    for (const int64_t element : read[static_cast<size_t>(row)])
      all.push_back(static_cast<int32_t>(row * columns + element));
  const Value kernel = c.read(kernel_);
  const Value empty = ops::full(c.block(), kernel.dtype(), {rows * columns}, 0);
  const Value matrix =
      ops::scatter_add(empty, constant_indices(c, kernel_.shape(), all), kernel, 0);
  return ops::matmul(x, ops::reshape(matrix, {rows, columns}), {.transpose_b = true});
}

template <int rank>
Results LocallyConnectedLayer<rank>::call(const Call& c) const {
  const Value given = c.float_input();
  const Geometry g = geometry(given.shape());
  const Value x = ops::reshape(given, {ops::infer_size, g.in() * g.channels});
  Value y = cfg.implementation == 1   ? by_window(c, x, g)
            : cfg.implementation == 2 ? by_mask(c, x, g)
                                      : by_elements(c, x, g);
  y = ops::reshape(y, g.output_shape());
  if (cfg.use_bias) {
    // As in Keras 2, channels first take the elements of the bias in order, not transposed.
    Dims shape = g.output_shape();
    shape.erase(shape.begin());
    y = y + ops::reshape(c.read(bias_), shape);
  }
  return cfg.activation(c, y);
}

template class LocallyConnectedLayer<1>;
template class LocallyConnectedLayer<2>;

}  // namespace keratin
