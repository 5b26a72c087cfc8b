#include "keratin/layers/preprocessing.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/json_tensor.h"
#include "keratin/ir/node.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

// Sums in double over all axes but those kept. `slot` maps elements to sums.
template <class Add>
void each_element(const Tensor& data, const Dims& keep, const Add& add) {
  const Shape& shape = data.shape();
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()), 0);
  int64_t stride = 1;
  for (size_t i = keep.size(); i-- > 0;) {
    strides[static_cast<size_t>(keep[i])] = stride;
    stride *= shape[keep[i]];
  }
  const std::vector<double> values = data.to_vector();
  Dims at(static_cast<size_t>(shape.rank()), 0);
  for (const double value : values) {
    int64_t slot = 0;
    for (size_t axis = 0; axis < at.size(); ++axis) slot += at[axis] * strides[axis];
    add(static_cast<size_t>(slot), value);
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < shape[static_cast<int64_t>(axis)]) break;
      at[axis] = 0;
    }
  }
}

}  // namespace

NormalizationLayer::NormalizationLayer(NormalizationConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  cfg.axis = Sizes(Dims(cfg.axis.dims()));
  require(given() == !cfg.variance.is_null(),
          "When setting values directly, both `mean` and `variance` must be set. Received: mean=",
          cfg.mean.is_null() ? "None" : cfg.mean.dump(),
          " and variance=", cfg.variance.is_null() ? "None" : cfg.variance.dump());
  if (!given()) return;
  const Shape mean = tensor_from_json(cfg.mean, DType::f64).shape(),
              variance = tensor_from_json(cfg.variance, DType::f64).shape();
  require(mean == variance,
          "When setting values directly, `mean` and `variance` must have the same shape. Received: "
          "mean shape ",
          keras_shape(mean), " and variance shape ", keras_shape(variance));
  require(mean.rank() <= static_cast<int64_t>(cfg.axis.dims().size()),
          "The rank of `mean` must be less than or equal to the number of axes (",
          cfg.axis.dims().size(), "). Received: mean shape ", keras_shape(mean));
}

LayerPtr NormalizationLayer::from_config(const Json& json, const ConfigContext& context) {
  Json config = json;
  if (const Json* axis = config.find("axis"); axis != nullptr && axis->is_null())
    config["axis"] = Json::array();
  return LayerOf::from_config(config, context);
}

void NormalizationLayer::build(const Shapes& inputs) {
  const Shape& input = inputs[0];
  const int64_t rank = input.rank();
  keep_.clear();
  for (const int64_t axis : cfg.axis.dims()) {
    require(axis >= -rank && axis < rank,
            "All `axis` values must be in the range [-ndim, ndim). Received inputs with ndim=",
            rank, ", while axis=", cfg.axis.to_json());
    keep_.push_back(axis < 0 ? axis + rank : axis);
  }
  std::sort(keep_.begin(), keep_.end());
  broadcast_.assign(static_cast<size_t>(rank), 1);
  Dims sizes;
  for (const int64_t axis : keep_) {
    require(
        input[axis] != unknown,
        "All `axis` values to be kept must have a known shape. Received axis=", cfg.axis.to_json(),
        ", inputs.shape=", keras_shape(input), ", with unknown axis at index ", axis);
    sizes.push_back(input[axis]);
    broadcast_[static_cast<size_t>(axis)] = input[axis];
  }
  if (given()) return;
  mean_ = add_weight("mean", Shape(sizes), "zeros", {.trainable = false});
  variance_ = add_weight("variance", Shape(sizes), "ones", {.trainable = false});
  count_ = add_weight("count", {}, "zeros", {.trainable = false, .dtype = DType::i64});
}

void NormalizationLayer::adapt(const std::vector<Tensor>& batches) {
  require(!given(), "Normalization '", name(), "': mean and variance are given, nothing to adapt");
  require(!batches.empty(), "adapt() received no data");
  ensure_built({batches[0].shape()});
  const auto slots = static_cast<size_t>(mean_.shape().count());
  std::vector<double> mean(slots, 0.0), variance(slots, 0.0);
  double count = 0;
  for (const Tensor& batch : batches) {
    bool fits = batch.shape().rank() == static_cast<int64_t>(broadcast_.size());
    for (const int64_t axis : keep_)
      fits = fits && batch.shape()[axis] == broadcast_[static_cast<size_t>(axis)];
    require(fits, "The layer was built with input_shape=", keras_shape(built_with()[0]),
            ", but adapt() is being called with data with an incompatible shape, data.shape=",
            keras_shape(batch.shape()));
    count += static_cast<double>(batch.count()) / static_cast<double>(std::max<size_t>(1, slots));
    each_element(batch, keep_, [&](size_t slot, double value) { mean[slot] += value; });
  }
  require(count > 0, "adapt() received no data");
  for (double& m : mean) m /= count;
  for (const Tensor& batch : batches)
    each_element(batch, keep_, [&](size_t slot, double value) {
      variance[slot] += (value - mean[slot]) * (value - mean[slot]) / count;
    });
  mean_.assign(Tensor::of(mean_.dtype(), mean_.shape(), mean));
  variance_.assign(Tensor::of(variance_.dtype(), variance_.shape(), variance));
}

// The axes of a given statistic are the last of those kept.
Tensor NormalizationLayer::aligned(const Json& statistic, DType dtype) const {
  const Tensor tensor = tensor_from_json(statistic, dtype);
  Dims shape(broadcast_.size(), 1);
  for (int64_t i = 1; i <= tensor.shape().rank(); ++i) {
    const int64_t axis = keep_[keep_.size() - static_cast<size_t>(i)];
    shape[static_cast<size_t>(axis)] = tensor.shape()[tensor.shape().rank() - i];
  }
  return tensor.reshape(Shape(shape));
}

Results NormalizationLayer::call(const Call& c) const {
  const Value x = c.float_input();
  const auto statistic = [&](const Json& config, const Variable& found) {
    if (given()) return ops::constant(c.block(), aligned(config, x.dtype()));
    return ops::reshape(c.read(found), broadcast_);
  };
  const Value mean = statistic(cfg.mean, mean_);
  const Value variance = statistic(cfg.variance, variance_);
  const Value deviation = ops::maximum(ops::sqrt(variance), ops::scalar_like(variance, 1e-7));
  if (cfg.invert) return x * deviation + mean;
  return (x - mean) / deviation;
}

}  // namespace keratin
