#include "keratin/layers/normalizations.h"

#include <cmath>

#include "keratin/base/text.h"
#include "keratin/graph/tracer.h"
#include "keratin/layers/norm_axes.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

constexpr double tiny = 1e-7;  // as in Keras: avoids a division by zero if all is masked

Initializer root_of(const Initializer& initializer) {
  return Initializer([initializer](const Shape& shape, DType dtype, uint64_t seed) {
    Tensor value = initializer(shape, dtype, seed);
    for (int64_t i = 0; i < value.count(); ++i) value.set(i, std::sqrt(value.at(i)));
    return value;
  });
}

Dims axes_but(int64_t rank, int64_t axis) {
  Dims axes;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis) axes.push_back(i);
  return axes;
}

}  // namespace

BatchNormalizationLayer::BatchNormalizationLayer(BatchNormalizationConfig config,
                                                 LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(cfg.axis.dims().size() == 1, "BatchNormalization: expected one axis, got ",
          cfg.axis.dims().size());
  cfg.axis = cfg.axis.dims()[0];  // Keras 2 writes a list
  if (cfg.renorm) check_clipping();
}

void BatchNormalizationLayer::check_clipping() {
  if (cfg.renorm_clipping.is_null()) cfg.renorm_clipping = Json::object();
  std::optional<double> rmin, rmax, dmax;
  for (const auto& [key, value] : cfg.renorm_clipping.as_object()) {
    require(key == "rmin" || key == "rmax" || key == "dmax",
            "Received invalid keys for `renorm_clipping` argument: ", cfg.renorm_clipping,
            ". Supported values: ['rmax', 'rmin', 'dmax'].");
    if (!value.is_null()) (key == "rmin" ? rmin : key == "rmax" ? rmax : dmax) = value.as_double();
  }
  require(!rmin || !rmax || *rmax >= *rmin,
          "rmax should be greater than rmin in the `renorm_clipping` argument. Received: ",
          cfg.renorm_clipping);
  require(!dmax || *dmax >= 0,
          "dmax should be non-negative in the `renorm_clipping` argument. Received: ",
          cfg.renorm_clipping);
}

void BatchNormalizationLayer::build(const Shapes& inputs) {
  const Shape& input = inputs[0];
  axis_ = norm_axes::checked(*this, input, cfg.axis)[0];
  const Shape shape = {input[axis_]};
  if (cfg.scale)
    gamma_ = add_weight("gamma", shape, cfg.gamma_initializer,
                        {.regularizer = cfg.gamma_regularizer, .constraint = cfg.gamma_constraint});
  if (cfg.center)
    beta_ = add_weight("beta", shape, cfg.beta_initializer,
                       {.regularizer = cfg.beta_regularizer, .constraint = cfg.beta_constraint});
  moving_mean_ =
      add_weight("moving_mean", shape, cfg.moving_mean_initializer, {.trainable = false});
  moving_variance_ =
      add_weight("moving_variance", shape, cfg.moving_variance_initializer, {.trainable = false});
  if (cfg.renorm) build_renorm(shape);
  set_input_spec({{.ndim = input.rank(), .axes = {{cfg.axis.dims()[0], input[axis_]}}}});
}

void BatchNormalizationLayer::build_renorm(const Shape& shape) {
  const Initializer stddev = root_of(cfg.moving_variance_initializer);
  moving_stddev_ = add_weight("moving_stddev", shape, stddev, {.trainable = false});
  renorm_mean_ =
      add_weight("renorm_mean", shape, cfg.moving_mean_initializer, {.trainable = false});
  renorm_stddev_ = add_weight("renorm_stddev", shape, stddev, {.trainable = false});
}

Results BatchNormalizationLayer::call(const Call& c) const {
  const Value given = c.float_input();
  // Keras 2 ignores the mask.
  const auto mask = c.dialect() == Dialect::keras2 ? std::nullopt : c.mask();
  require(!mask || mask->rank() == given.rank() - 1,
          "The mask provided should be one dimension less than the inputs. Received: mask.shape=",
          mask ? keras_shape(mask->shape()) : "", ", inputs.shape=", keras_shape(given.shape()));
  // Sums of halves could overflow.
  const Value x = ops::cast(given, ops::statistics_dtype(given.dtype()));
  const Value y =
      c.training() && trainable()
          ? normalize_batch(c, x, mask)
          : ops::batch_norm_inference(x, read(c, moving_mean_, x), read(c, moving_variance_, x),
                                      read(c, gamma_, x), read(c, beta_, x), axis_, cfg.epsilon);
  return ops::cast(y, compute_dtype());
}

Value BatchNormalizationLayer::normalize_batch(const Call& c, Value x,
                                               const std::optional<Value>& mask) const {
  if (cfg.renorm) return renormalize(c, x, moments(c, x, mask));
  const Value gamma = read(c, gamma_, x), beta = read(c, beta_, x);
  ops::BatchNorm result;
  if (mask || together(c)) {
    const auto [mean, variance] = moments(c, x, mask);
    result = {ops::batch_norm_inference(x, mean, variance, gamma, beta, axis_, cfg.epsilon), mean,
              variance};
  } else {
    result = ops::batch_norm_training(x, gamma, beta, axis_, cfg.epsilon);
  }
  move(c, moving_mean_, result.mean, cfg.momentum);
  move(c, moving_variance_, result.variance, cfg.momentum);
  return result.y;
}

bool BatchNormalizationLayer::together(const Call& c) const {
  return cfg.synchronized && c.in_replica();
}

BatchNormalizationLayer::Moments BatchNormalizationLayer::moments(
    const Call& c, Value x, const std::optional<Value>& mask) const {
  if (mask) return masked_moments(c, x, *mask);
  const Dims others = axes_but(x.rank(), axis_);
  if (!together(c)) return {ops::mean(x, others), ops::var(x, others)};
  // The moments of all replicas: each replica's mean is weighted by its number of samples.
  const double share = c.batch_share();
  const int64_t channels = x.shape()[axis_];
  const Value mean = c.sum_over_replicas(ops::mean(x, others, true) * share);
  const Value variance =
      c.sum_over_replicas(ops::mean(ops::square(x - mean), others, true) * share);
  return {ops::reshape(mean, {channels}), ops::reshape(variance, {channels})};
}

// With w = 1 where the mask is true: mean = Σ w·x / Σ w, variance = Σ w·(x - mean)² / Σ w.
BatchNormalizationLayer::Moments BatchNormalizationLayer::masked_moments(const Call& c, Value x,
                                                                         Value mask) const {
  const auto sum = [&](Value v, const Dims& axes) {
    const Value local = ops::sum(v, axes, true);
    return together(c) ? c.sum_over_replicas(local) : local;
  };
  const int64_t channels = x.shape()[axis_];
  const Dims others = axes_but(x.rank(), axis_);
  // A position of the mask stands for all elements along the last axis and along axes of size 1.
  const Value counts = ops::expand_dims(ops::cast(mask, DType::boolean), -1);
  const Value zero = ops::scalar_like(x, 0), one = ops::fill_like(x, 1, x.dtype());
  const Value total = sum(ops::where(counts, one, zero), others) + tiny;
  const Value mean = sum(ops::where(counts, x, zero), others) / total;
  const Value apart = ops::where(counts, x - mean, zero);
  const Value variance = sum(ops::square(apart), others) / total;
  return {ops::reshape(mean, {channels}), ops::reshape(variance, {channels})};
}

// Batch renormalization: (normalized · r + d) · gamma + beta, where r and d correct the batch's
// statistics to the moving averages; gradients treat them as constants.
Value BatchNormalizationLayer::renormalize(const Call& c, Value x, const Moments& batch) const {
  const Value stddev = ops::sqrt(batch.variance + cfg.epsilon);
  const Value least = ops::scalar_like(x, std::sqrt(cfg.epsilon));
  const Value long_term = ops::maximum(read(c, renorm_stddev_, x), least);
  Value r = stddev / long_term;
  Value d = (batch.mean - read(c, renorm_mean_, x)) / long_term;
  const auto clip = [&](std::string_view key) -> std::optional<double> {
    const Json* value = cfg.renorm_clipping.find(key);
    return value == nullptr || value->is_null() ? std::nullopt : std::optional(value->as_double());
  };
  if (const auto rmin = clip("rmin")) r = ops::maximum(r, ops::scalar_like(r, *rmin));
  if (const auto rmax = clip("rmax")) r = ops::minimum(r, ops::scalar_like(r, *rmax));
  if (const auto dmax = clip("dmax")) d = ops::clip(d, -*dmax, *dmax);
  Value scale = ops::stop_gradient(r), offset = ops::stop_gradient(d);
  if (cfg.scale) {
    const Value gamma = read(c, gamma_, x);
    scale = scale * gamma;
    offset = offset * gamma;
  }
  if (cfg.center) offset = offset + read(c, beta_, x);

  move(c, renorm_mean_, batch.mean, cfg.renorm_momentum);
  move(c, renorm_stddev_, stddev, cfg.renorm_momentum);
  move(c, moving_mean_, batch.mean, cfg.momentum);
  move(c, moving_stddev_, stddev, cfg.momentum);
  c.update(moving_variance_, ops::relu(ops::square(read(c, moving_stddev_, x)) - cfg.epsilon));
  return ops::batch_norm_inference(x, batch.mean, batch.variance, scale, offset, axis_,
                                   cfg.epsilon);
}

// Weights keep their precision here: x has the dtype of the arithmetic, not the layer's.
Value BatchNormalizationLayer::read(const Call& c, const Variable& variable, Value like) const {
  return variable.defined() ? ops::cast(c.tracer().read(variable), like.dtype()) : Value();
}

// Statistics of all replicas update the averages once.
void BatchNormalizationLayer::move(const Call& c, const Variable& average, Value value,
                                   double momentum) const {
  if (together(c) && !c.is_first_replica()) return;
  c.update(average, read(c, average, value) * momentum + value * (1 - momentum));
}

}  // namespace keratin
