#include "keratin/metrics/regression.h"

#include "keratin/base/text.h"
#include "keratin/graph/tracer.h"
#include "keratin/losses/weighting.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin::metrics {
namespace {

Value centred(Value x, int64_t axis) { return x - ops::mean(x, {axis}, true); }

// y_true and y_pred as [batch, outputs], in the metric's dtype.
std::pair<Value, Value> paired(const Sample& sample, DType dtype) {
  return to_same_rank(cast_to(sample.y_true, dtype), cast_to(sample.y_pred, dtype));
}

}  // namespace

Value PearsonCorrelationConfig::call(Value y_true, Value y_pred) const {
  const auto [t, p] = to_same_rank(cast_like(y_true, y_pred), y_pred);
  const auto standard = [&](Value x) {
    x = centred(x, axis);
    return x / ops::sqrt(ops::var(x, {axis}, true));
  };
  return ops::mean(standard(t) * standard(p), {axis});
}

Value ConcordanceCorrelationConfig::call(Value y_true, Value y_pred) const {
  const auto [t, p] = to_same_rank(cast_like(y_true, y_pred), y_pred);
  const Value mean_t = ops::mean(t, {axis}, true), mean_p = ops::mean(p, {axis}, true);
  const Value spread = ops::var(centred(t, axis), {axis}, true) +
                       ops::var(centred(p, axis), {axis}, true) + ops::square(mean_t - mean_p);
  return ops::mean(2 * ((t - mean_p) * (p - mean_p)) / (spread + keras_epsilon), {axis});
}

RootMeanSquaredErrorMetric::RootMeanSquaredErrorMetric(RootMeanSquaredErrorConfig config,
                                                       MetricOptions options)
    : MetricOf(config, std::move(options)) {}

void RootMeanSquaredErrorMetric::update(Tracer& tracer, const Sample& sample) {
  const auto [t, p] = paired(sample, dtype());
  add_values(tracer, ops::square(p - t), sample.weight);
}

Value RootMeanSquaredErrorMetric::result(Tracer& tracer) {
  return ops::sqrt(MeanState::result(tracer));
}

void R2ScoreConfig::check() const {
  require(!class_aggregation || *class_aggregation == "uniform_average" ||
              *class_aggregation == "variance_weighted_average",
          "Invalid value for argument `class_aggregation`. Expected one of (None, "
          "'uniform_average', 'variance_weighted_average'). Received: class_aggregation=",
          class_aggregation.value_or("None"));
  require(num_regressors >= 0,
          "Invalid value for argument `num_regressors`. Expected a value >= 0. Received: "
          "num_regressors=",
          num_regressors);
}

R2ScoreMetric::R2ScoreMetric(R2ScoreConfig config, MetricOptions options)
    : MetricOf(std::move(config), std::move(options)),
      samples_(add_variable("num_samples", {}, DType::f32)) {}

void R2ScoreMetric::make_variables(const Shape& y_true, const Shape& y_pred) {
  // [batch] is broadcast against [batch, 1].
  const bool columns = y_true.rank() + y_pred.rank() == 3;
  require((y_true.rank() == 2 && y_pred.rank() == 2) ||
              (columns && (y_true.rank() == 2 ? y_true : y_pred).back() == 1),
          "R2Score expects 2D inputs with shape (batch_size, output_dim). Received input shapes: "
          "y_pred.shape=",
          keras_shape(y_pred), " and y_true.shape=", keras_shape(y_true), ".");
  const Shape outputs = {columns ? 1 : y_pred.back()};
  squared_sum_ = add_variable("squared_sum", outputs, DType::f32);
  sum_ = add_variable("sum", outputs, DType::f32);
  residual_ = add_variable("residual", outputs, DType::f32);
  count_ = add_variable("count", outputs, DType::f32);
}

void R2ScoreMetric::update(Tracer& tracer, const Sample& sample) {
  const auto [t, p] = paired(sample, dtype());
  Value weight = sample.weight ? cast_to(*sample.weight, dtype()) : ops::scalar_like(t, 1);
  if (weight.rank() == 1) weight = ops::expand_dims(weight, 1);
  weight = ops::broadcast_to(weight, t.shape().dims());
  const Value weighted = t * weight;
  add(tracer, sum_, ops::sum(weighted, {0}));
  add(tracer, squared_sum_, ops::sum(t * weighted, {0}));
  add(tracer, residual_, ops::sum(ops::square(t - p) * weight, {0}));
  add(tracer, count_, ops::sum(weight, {0}));
  add(tracer, samples_, ops::scalar_like(t, static_cast<double>(t.shape().count())));
}

Value R2ScoreMetric::result(Tracer& tracer) {
  require_built();
  const Value sum = tracer.read(sum_);
  const Value total = tracer.read(squared_sum_) - sum * (sum / tracer.read(count_));
  Value score = 1 - tracer.read(residual_) / total;
  score = ops::where(ops::isinf(score), ops::scalar_like(score, 0), score);
  if (cfg.class_aggregation == "uniform_average")
    score = ops::mean(score);
  else if (cfg.class_aggregation == "variance_weighted_average")
    score = ops::sum(total * score) / ops::sum(total);
  if (cfg.num_regressors == 0) return score;
  // The adjustment needs enough samples.
  const auto regressors = static_cast<double>(cfg.num_regressors);
  const Value samples = tracer.read(samples_);
  const Value adjusted = 1 - (1 - score) * (samples - 1) / (samples - regressors - 1);
  return ops::where(samples - 1 > regressors, adjusted, score);
}

}  // namespace keratin::metrics
