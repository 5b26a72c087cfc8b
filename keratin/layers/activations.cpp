#include "keratin/layers/activations.h"

#include <algorithm>
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/ops/activations.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

void require_not_negative(double value, std::string_view name, std::string_view complaint) {
  require(value >= 0, complaint, " Received: ", name, "=", value);
}

void require_broadcast(const Value mask, const Value x) {
  bool fits = mask.rank() <= x.rank();
  for (int64_t i = 1; fits && i <= mask.rank(); ++i) {
    const int64_t from = mask.shape()[mask.rank() - i], to = x.shape()[x.rank() - i];
    fits = from == 1 || from == to || from == unknown || to == unknown;
  }
  require(fits,
          "The `mask` must be broadcastable to `inputs`. Each mask dimension must be 1 or match "
          "the corresponding input dimension. Received: inputs.shape=",
          keras_shape(x.shape()), ", mask.shape=", keras_shape(mask.shape()));
}

Json with_key_renamed(const Json& config, std::string_view from, std::string_view to) {
  Json out = Json::object();
  for (const auto& [key, value] : config.as_object()) out[key == from ? to : key] = value;
  return out;
}

// Softmax over several axes, written so that sizes may be unknown.
Value softmax(Value x, const Dims& axes) {
  if (axes.size() == 1) return ops::softmax(x, axes[0]);
  return ops::exp(x - ops::logsumexp(x, axes, /*keepdims=*/true));
}

}  // namespace

ActivationLayer::ActivationLayer(ActivationConfig config, LayerOptions options)
    : ActivationLayerOf(std::move(config), std::move(options)) {}

Results ActivationLayer::call(const Call& c) const {
  const bool any_number =
      cfg.activation.is("linear") || cfg.activation.is("relu") || cfg.activation.layer();
  return cfg.activation(c, any_number ? c.input() : c.float_input());
}

ReLULayer::ReLULayer(ReLUConfig config, LayerOptions options)
    : ActivationLayerOf(std::move(config), std::move(options)) {
  require_not_negative(cfg.max_value.value_or(0), "max_value",
                       "max_value of a ReLU layer cannot be a negative value.");
  require_not_negative(cfg.negative_slope, "negative_slope",
                       "negative_slope of a ReLU layer cannot be None or a negative value.");
  require_not_negative(cfg.threshold, "threshold",
                       "threshold of a ReLU layer cannot be None or a negative value.");
}

Results ReLULayer::call(const Call& c) const {
  if (!cfg.max_value && cfg.negative_slope == 0 && cfg.threshold == 0) return ops::relu(c.input());
  // Integers stay integers if the limit is one.
  const bool whole = cfg.max_value && *cfg.max_value == std::floor(*cfg.max_value);
  if (const Value x = c.input(); !is_float(x.dtype()) && x.dtype() != DType::boolean && whole &&
                                 cfg.negative_slope == 0 && cfg.threshold == 0)
    return ops::minimum(ops::relu(x), ops::scalar_like(x, *cfg.max_value));
  return ops::relu(c.float_input(), cfg.negative_slope, cfg.max_value, cfg.threshold);
}

LeakyReLULayer::LeakyReLULayer(LeakyReLUConfig config, LayerOptions options)
    : ActivationLayerOf(std::move(config), std::move(options)) {
  require_not_negative(cfg.negative_slope, "negative_slope",
                       "The negative_slope value of a Leaky ReLU layer cannot be None or negative "
                       "value. Expected a float.");
}

LayerPtr LeakyReLULayer::from_config(const Json& json, const ConfigContext& context) {
  return LayerOf::from_config(with_key_renamed(json, "alpha", "negative_slope"), context);
}

Results LeakyReLULayer::call(const Call& c) const {
  return ops::leaky_relu(c.float_input(), cfg.negative_slope);
}

ELULayer::ELULayer(ELUConfig config, LayerOptions options)
    : ActivationLayerOf(std::move(config), std::move(options)) {}

Results ELULayer::call(const Call& c) const { return ops::elu(c.float_input(), cfg.alpha); }

PReLULayer::PReLULayer(PReLUConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {}

void PReLULayer::build(const Shapes& inputs) {
  const Shape& input = inputs[0];
  const Dims shared = cfg.shared_axes.value_or(Dims{});
  InputSpec spec{.ndim = input.rank()};
  Dims shape;
  for (int64_t axis = 1; axis < input.rank(); ++axis) {
    const bool one = std::find(shared.begin(), shared.end(), axis) != shared.end();
    require(one || input[axis] != unknown, "PReLU '", name(), "': axis ", axis,
            " of the input must be known or in shared_axes, got shape ", keras_shape(input));
    shape.push_back(one ? 1 : input[axis]);
    if (!shared.empty() && !one) spec.axes.emplace(axis, input[axis]);
  }
  for (const int64_t axis : shared)
    require(axis >= 1 && axis < input.rank(), "PReLU '", name(), "': shared axis ", axis,
            " is not one of the input's, which has shape ", keras_shape(input));
  alpha_ = add_weight("alpha", Shape(shape), cfg.alpha_initializer,
                      {.regularizer = cfg.alpha_regularizer, .constraint = cfg.alpha_constraint});
  set_input_spec({spec});
}

Results PReLULayer::call(const Call& c) const {
  const Value x = c.float_input();
  return ops::relu(x) - c.read(alpha_) * ops::relu(-x);
}

SoftmaxLayer::SoftmaxLayer(SoftmaxConfig config, LayerOptions options)
    : ActivationLayerOf(std::move(config), std::move(options)) {}

Results SoftmaxLayer::call(const Call& c) const {
  const auto mask = c.mask();
  const Dims& axes = cfg.axis.dims();
  Value x = c.float_input();
  if (!mask) return softmax(x, axes);
  require_broadcast(*mask, x);
  const Value keep = mask->dtype() == DType::boolean ? *mask : *mask > ops::scalar_like(*mask, 0.5);
  const double low = x.dtype() == DType::f16 ? -3e4 : -1e9;
  x = ops::where(keep, x, ops::scalar_like(x, low));
  x = softmax(x, axes);
  // If all elements are masked the softmax would be uniform. It is in Keras 2, and was up to Keras
  // 3.9.
  if (c.dialect() == Dialect::keras2) return x;
  return ops::where(keep, x, ops::scalar_like(x, 0));
}

}  // namespace keratin
