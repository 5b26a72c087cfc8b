#include "keratin/metrics/f_score.h"

#include "keratin/base/text.h"
#include "keratin/graph/tracer.h"
#include "keratin/losses/weighting.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin::metrics {

void FScoreState::start(FBetaScoreConfig settings) {
  const auto& average = settings.average;
  require(!average || average == "micro" || average == "macro" || average == "weighted",
          "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', "
          "'weighted'}. Received: average=",
          average.value_or("None"));
  require(settings.beta > 0,
          "Invalid `beta` argument value. It should be > 0. Received: beta=", settings.beta);
  if (settings.threshold)
    require(*settings.threshold > 0 && *settings.threshold <= 1,
            "Invalid `threshold` argument value. It should verify 0 < threshold <= 1. Received: "
            "threshold=",
            *settings.threshold);
  settings_ = std::move(settings);
}

void FScoreState::make_variables(const Shape& y_true, const Shape& y_pred) {
  require(y_true.rank() == 2 && y_pred.rank() == 2,
          "FBetaScore expects 2D inputs with shape (batch_size, output_dim). Received input "
          "shapes: y_pred.shape=",
          keras_shape(y_pred), " and y_true.shape=", keras_shape(y_true), ".");
  const Shape shape = settings_.average == "micro" ? Shape{} : Shape{y_pred.back()};
  true_positives_ = add_variable("true_positives", shape);
  false_positives_ = add_variable("false_positives", shape);
  false_negatives_ = add_variable("false_negatives", shape);
  weights_ = add_variable("intermediate_weights", shape);
}

void FScoreState::update(Tracer& tracer, const Sample& sample) {
  const Value t = cast_to(sample.y_true, dtype());
  const Value scores = cast_to(sample.y_pred, dtype());
  const Value positive =
      settings_.threshold
          ? scores > *settings_.threshold
          : ops::greater_equal(scores, ops::max(scores, {-1}, true)) & (ops::abs(scores) > 1e-9);
  const Value p = cast_to(positive, dtype());
  const auto add_sum = [&](const Variable& variable, Value x) {
    if (sample.weight) x = x * ops::expand_dims(cast_to(*sample.weight, dtype()), 1);
    add(tracer, variable, settings_.average == "micro" ? ops::sum(x) : ops::sum(x, {0}));
  };
  add_sum(true_positives_, p * t);
  add_sum(false_positives_, p * (1 - t));
  add_sum(false_negatives_, (1 - p) * t);
  add_sum(weights_, t);
}

Value FScoreState::result(Tracer& tracer) {
  require_built();
  const Value right = tracer.read(true_positives_);
  const Value precision = right / (right + tracer.read(false_positives_) + keras_epsilon);
  const Value recall = right / (right + tracer.read(false_negatives_) + keras_epsilon);
  const double beta2 = settings_.beta * settings_.beta;
  const Value score =
      precision * recall / (beta2 * precision + recall + keras_epsilon) * (1 + beta2);
  if (!settings_.average) return score;
  if (settings_.average != "weighted") return ops::mean(score);
  const Value weights = tracer.read(weights_);
  return ops::sum(score * (weights / (ops::sum(weights) + keras_epsilon)));
}

}  // namespace keratin::metrics
