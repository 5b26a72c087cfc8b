#include "keratin/base/text.h"
#include "keratin/layers/pooling.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pool.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

template <int rank>
Sizes checked_output_size(const Sizes& given) {
  const Dims dims = given.single() ? Dims(rank, given.dims()[0]) : given.dims();
  const std::string received = windows::tuple(dims);
  if (rank == 1)
    require(dims.size() == 1,
            "For 1D input, `output_size` tuple must have length 1. Received: ", received);
  else
    require(dims.size() == rank, "`output_size` must be an integer or ",
            rank == 2 ? "(height, width)" : "(depth, height, width)",
            " tuple. Received: ", received, " of type tuple");
  constexpr int64_t max_size = int64_t{1} << 24;
  for (const int64_t size : dims)
    require(size > 0 && size <= max_size, "`output_size` must be positive, and at most ", max_size,
            ". Received: output_size=", received);
  return dims;
}

Value pool_axis(Value x, Pool pool, int64_t axis, int64_t window, int64_t stride) {
  const auto axes = static_cast<size_t>(x.rank() - 2);
  ops::PoolAttrs attrs{.window = Dims(axes, 1), .strides = Dims(axes, 1)};
  attrs.window[static_cast<size_t>(axis - 1)] = window;
  attrs.strides[static_cast<size_t>(axis - 1)] = stride;
  return pool == Pool::max ? ops::max_pool(x, attrs) : ops::avg_pool(x, attrs);
}

// A result of the right shape. Programs with unknown sizes only serve to infer shapes.
Value of_unknown_size(Value x, int64_t axis, int64_t size) {
  Dims shape(static_cast<size_t>(x.rank()), -1);
  shape[static_cast<size_t>(axis)] = size;
  return ops::broadcast_to(ops::max(x, {axis}, /*keepdims=*/true), shape);
}

// Window i of `size` spans [⌊i · in / size⌋, ⌈(i + 1) · in / size⌉): ⌈in / size⌉ elements or one
// more. Both kinds of windows are pooled at every position, and those that count are taken.
Value pool_windows(Value x, Pool pool, int64_t axis, int64_t size) {
  const int64_t in = x.shape()[axis];
  if (in == unknown) return of_unknown_size(x, axis, size);
  if (in % size == 0) return pool_axis(x, pool, axis, in / size, in / size);
  // Sums of quotients and remainders, because products with the size of the input may overflow.
  const int64_t whole = in / size, rest = in % size;
  const int64_t small = whole + 1, small_count = in - small + 1;
  std::vector<int64_t> picks;
  bool any_big = false;
  for (int64_t i = 0; i < size; ++i) {
    const int64_t start = i * whole + i * rest / size;
    const int64_t end = (i + 1) * whole + ((i + 1) * rest + size - 1) / size;
    const bool big = end - start > small;
    any_big = any_big || big;
    picks.push_back(big ? small_count + start : start);
  }
  Value all = pool_axis(x, pool, axis, small, 1);
  if (any_big) all = ops::concatenate({all, pool_axis(x, pool, axis, small + 1, 1)}, axis);
  return ops::take(all, ops::constant(x.block(), Tensor::of<int64_t>(DType::i64, {size}, picks)),
                   axis);
}

Value move_channels(Value x, bool to_last) {
  Dims order{0};
  if (!to_last) order.push_back(x.rank() - 1);
  for (int64_t axis = to_last ? 2 : 1; axis < x.rank() - (to_last ? 0 : 1); ++axis)
    order.push_back(axis);
  if (to_last) order.push_back(1);
  return ops::transpose(x, order);
}

}  // namespace

template <int rank, Pool pool>
AdaptivePoolingLayer<rank, pool>::AdaptivePoolingLayer(AdaptivePoolingConfig<rank, pool> config,
                                                       LayerOptions options)
    : LayerOf<AdaptivePoolingLayer, AdaptivePoolingConfig<rank, pool>>(std::move(config),
                                                                       std::move(options)) {
  cfg.output_size = checked_output_size<rank>(cfg.output_size);
  require(cfg.data_format == "channels_first" || cfg.data_format == "channels_last",
          "Invalid data_format: ", cfg.data_format,
          ". Expected 'channels_first' or 'channels_last'.");
  this->set_built();
}

template <int rank, Pool pool>
Results AdaptivePoolingLayer<rank, pool>::call(const Call& c) const {
  Value x = pool == Pool::max ? c.input() : c.float_input();
  require(x.rank() == rank + 2, this->class_name(), " '", this->name(),
          "': expected ndim=", rank + 2, ", found ndim=", x.rank(),
          ". Full shape received: ", keras_shape(x.shape()));
  const bool first = cfg.data_format == "channels_first";
  if (first) x = move_channels(x, /*to_last=*/true);
  for (int64_t i = 0; i < rank; ++i)
    x = pool_windows(x, pool, i + 1, cfg.output_size.dims()[static_cast<size_t>(i)]);
  return first ? move_channels(x, /*to_last=*/false) : x;
}

template class AdaptivePoolingLayer<1, Pool::max>;
template class AdaptivePoolingLayer<2, Pool::max>;
template class AdaptivePoolingLayer<3, Pool::max>;
template class AdaptivePoolingLayer<1, Pool::average>;
template class AdaptivePoolingLayer<2, Pool::average>;
template class AdaptivePoolingLayer<3, Pool::average>;

}  // namespace keratin
