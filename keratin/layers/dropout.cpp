#include "keratin/layers/dropout.h"

#include <cmath>

#include "keratin/base/text.h"
#include "keratin/layers/spatial.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/random.h"

namespace keratin {
namespace {

double checked_share(double value, std::string_view name) {
  require(value >= 0 && value <= 1, "Invalid value received for argument `", name,
          "`. Expected a float value between 0 and 1. Received: ", name, "=", value);
  return value;
}

NoiseShape checked_noise_shape(const NoiseShape& shape) {
  if (shape)
    for (const auto& size : *shape)
      require(!size || *size > 0,
              "Invalid value received for argument `noise_shape`. Expected all dimensions to be "
              "positive integers or None. Received: noise_shape=",
              config::write(shape));
  return shape;
}

// The shape of the noise for an input: sizes that are not given are the input's.
Shape noise_shape_for(const NoiseShape& given, Value x, const Layer& layer) {
  if (!given) return x.shape();
  require(static_cast<int64_t>(given->size()) == x.rank(), layer.class_name(), " '", layer.name(),
          "': expected a noise_shape of rank ", x.rank(), ", got ", config::write(given));
  Dims dims;
  for (size_t i = 0; i < given->size(); ++i)
    dims.push_back((*given)[i].value_or(x.shape()[static_cast<int64_t>(i)]));
  return Shape(dims);
}

// Sizes are unknown only while shapes are inferred; then the number of words does not matter.
int64_t words(DType dtype, const Shape& shape) {
  return shape.known() ? ops::random_words(dtype, shape) : 0;
}

Value drop(const Call& c, const Variable& seed, double rate, const Shape& noise) {
  const Value x = c.float_input();
  const Value key = c.random_key(seed, words(DType::f32, noise));
  if (noise == x.shape()) return ops::dropout(x, key, rate);
  if (rate == 1) return ops::fill_like(x, 0, x.dtype());
  const Value keep = ops::bernoulli(key, noise, 1 - rate);
  return ops::where(keep, x * (1 / (1 - rate)), ops::scalar_like(x, 0));
}

Value normal_like(const Call& c, const Variable& seed, Value x, double mean, double stddev) {
  const Value key = c.random_key(seed, words(x.dtype(), x.shape()));
  return ops::random_normal(key, x.dtype(), x.shape(), mean, stddev);
}

}  // namespace

DropoutLayer::DropoutLayer(DropoutConfig config, LayerOptions options)
    : NoiseLayerOf(config, std::move(options), checked_share(config.rate, "rate")) {
  checked_noise_shape(cfg.noise_shape);
}

Results DropoutLayer::call(const Call& c) const {
  if (!active(c)) return c.input();
  return drop(c, seed_, cfg.rate, noise_shape_for(cfg.noise_shape, c.input(), *this));
}

template <int n>
SpatialDropoutLayer<n>::SpatialDropoutLayer(SpatialDropoutConfig<n> config, LayerOptions options)
    : NoiseLayerOf<SpatialDropoutLayer, SpatialDropoutConfig<n>>(
          config, std::move(options), checked_share(config.rate, "rate")) {
  if constexpr (n > 1) this->cfg.data_format = windows::data_format(this->cfg.data_format);
  this->set_input_spec({{.ndim = n + 2}});
}

template <int n>
Results SpatialDropoutLayer<n>::call(const Call& c) const {
  if (!this->active(c)) return c.input();
  Dims noise = c.input().shape().dims();
  const auto first =
      static_cast<size_t>(detail::first_spatial_axis(std::string(this->cfg.data_format)));
  for (size_t i = 0; i < n; ++i) noise[first + i] = 1;
  return drop(c, this->seed_, this->cfg.rate, Shape(noise));
}

template <int n>
Json SpatialDropoutLayer<n>::get_config() const {
  Json config = this->own_config();
  config["name"] = this->name();
  config["dtype"] = keras_name(this->variable_dtype());
  return config;
}

template class SpatialDropoutLayer<1>;
template class SpatialDropoutLayer<2>;
template class SpatialDropoutLayer<3>;

AlphaDropoutLayer::AlphaDropoutLayer(AlphaDropoutConfig config, LayerOptions options)
    : NoiseLayerOf(config, std::move(options), checked_share(config.rate, "rate")) {
  checked_noise_shape(cfg.noise_shape);
}

// y = a · (kept ? x : lowest) + b, where a and b keep mean 0 and variance 1.
Results AlphaDropoutLayer::call(const Call& c) const {
  if (!active(c)) return c.input();
  constexpr double lowest = -1.6732632423543772 * 1.0507009873554805;
  const Value x = c.float_input();
  const Shape noise = noise_shape_for(cfg.noise_shape, x, *this);
  const Value keep =
      ops::bernoulli(c.random_key(seed_, words(DType::f32, noise)), noise, 1 - cfg.rate);
  const double a = 1 / std::sqrt((1 - cfg.rate) * (1 + cfg.rate * lowest * lowest));
  const double b = -a * lowest * cfg.rate;
  return ops::where(keep, x, ops::scalar_like(x, lowest)) * a + b;
}

GaussianDropoutLayer::GaussianDropoutLayer(GaussianDropoutConfig config, LayerOptions options)
    : NoiseLayerOf(config, std::move(options), checked_share(config.rate, "rate")) {}

Results GaussianDropoutLayer::call(const Call& c) const {
  if (!active(c)) return c.input();
  require(cfg.rate < 1, "GaussianDropout '", name(), "': a rate of 1 has no finite variance");
  const Value x = c.float_input();
  return x * normal_like(c, seed_, x, 1, std::sqrt(cfg.rate / (1 - cfg.rate)));
}

GaussianNoiseLayer::GaussianNoiseLayer(GaussianNoiseConfig config, LayerOptions options)
    : NoiseLayerOf(config, std::move(options), checked_share(config.stddev, "stddev")) {}

Results GaussianNoiseLayer::call(const Call& c) const {
  if (!active(c)) return c.input();
  const Value x = c.float_input();
  return x + normal_like(c, seed_, x, 0, cfg.stddev);
}

}  // namespace keratin
