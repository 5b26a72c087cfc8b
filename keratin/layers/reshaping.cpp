#include "keratin/layers/reshaping.h"

#include <algorithm>
#include <span>

#include "keratin/base/text.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"

namespace keratin {

FlattenLayer::FlattenLayer(FlattenConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  cfg.data_format = windows::data_format(cfg.data_format);
  set_input_spec({{.min_ndim = 1}});
}

Results FlattenLayer::call(const Call& c) const {
  Value x = c.input();
  if (x.rank() == 1) return ops::expand_dims(x, 1);
  if (cfg.data_format == "channels_first" && x.rank() > 2) {
    Dims order = {0};
    for (int64_t axis = 2; axis < x.rank(); ++axis) order.push_back(axis);
    order.push_back(1);
    x = ops::transpose(x, order);
  }
  return ops::reshape(x, {ops::keep_size, ops::infer_size});
}

ReshapeLayer::ReshapeLayer(ReshapeConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(cfg.target_shape.size() < max_rank, "Reshape: expected at most ", max_rank - 1,
          " sizes in `target_shape`, got ", cfg.target_shape.size());
  const auto open = std::count(cfg.target_shape.begin(), cfg.target_shape.end(), -1);
  require(open <= 1,
          "There must be at most one unknown dimension (-1) in `target_shape`. Received: ",
          "target_shape=", windows::tuple(cfg.target_shape), ".");
  for (const int64_t size : cfg.target_shape)
    require(size >= -1, "Reshape: expected sizes that are not negative, or -1. Received: ",
            "target_shape=", windows::tuple(cfg.target_shape));
  set_built();
}

Results ReshapeLayer::call(const Call& c) const {
  const Value x = c.input();
  Dims sizes = {ops::keep_size};
  sizes.insert(sizes.end(), cfg.target_shape.begin(), cfg.target_shape.end());
  try {
    return ops::reshape(x, sizes);
  } catch (const UserError&) {
    const Dims dims = x.shape().dims();
    fail("Reshape '", name(), "': the total size of the tensor must be unchanged. Received: ",
         "input_shape=", keras_shape(Shape(std::span(dims).subspan(dims.empty() ? 0 : 1))),
         ", target_shape=", windows::tuple(cfg.target_shape));
  }
}

PermuteLayer::PermuteLayer(PermuteConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(cfg.dims.size() < max_rank, "Permute: expected at most ", max_rank - 1,
          " axes in `dims`, got ", cfg.dims.size());
  Dims sorted = cfg.dims;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    require(sorted[i] == static_cast<int64_t>(i) + 1,
            "Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` "
            "must be consecutive and start from 1. Received dims=",
            windows::tuple(cfg.dims));
  set_input_spec({{.ndim = static_cast<int64_t>(cfg.dims.size()) + 1}});
}

Results PermuteLayer::call(const Call& c) const {
  Dims order = {0};
  order.insert(order.end(), cfg.dims.begin(), cfg.dims.end());
  return ops::transpose(c.input(), order);
}

RepeatVectorLayer::RepeatVectorLayer(RepeatVectorConfig config, LayerOptions options)
    : LayerOf(config, std::move(options)) {
  require(cfg.n > 0, "Argument `n` should be a positive integer. Received: n=", cfg.n);
  set_input_spec({{.ndim = 2}});
}

Results RepeatVectorLayer::call(const Call& c) const {
  return ops::repeat(ops::expand_dims(c.input(), 1), cfg.n, 1);
}

}  // namespace keratin
