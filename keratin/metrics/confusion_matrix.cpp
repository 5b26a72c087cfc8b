#include "keratin/metrics/confusion.h"

#include <algorithm>
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/graph/tracer.h"
#include "keratin/ir/node.h"
#include "keratin/losses/weighting.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/cumulative.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"
#include "keratin/ops/sort.h"

namespace keratin::metrics {
namespace {

constexpr double never = -1e10;

// A batch as [predictions], or [predictions, labels] if labels are counted separately.
struct Decisions {
  Value truth;  // bool
  Value scores;
  Value weights;  // ones by default
};

void add_to(Tracer& tracer, const Variable& variable, Value value) {
  if (variable.defined()) tracer.update(variable, tracer.read(variable) + value);
}

Value one_class(Value x, int64_t class_id) {
  const int64_t last = x.rank() - 1;
  return ops::take(x, ops::constant(x.block(), Tensor::of<int64_t>(DType::i32, {1}, {class_id})),
                   last);
}

// Makes all but the k largest predictions negative.
Value only_top_k(Value scores, int64_t k) {
  const Value best = ops::top_k(scores, k).indices;
  const Value kept = ops::sum(ops::one_hot(best, scores.shape().back(), scores.dtype()), {-2});
  return scores * kept + never * (1 - kept);
}

Decisions decide(const Sample& sample, const ConfusionOptions& options) {
  auto [scores, truth] =
      to_same_rank(cast_to(sample.y_pred, DType::f32), cast_to(sample.y_true, DType::f32));
  std::optional<Value> weight;
  if (sample.weight) {
    weight = ops::expand_dims(cast_to(*sample.weight, DType::f32), -1);
    if (weight->rank() == truth.rank() + 1) weight = ops::squeeze(*weight, -1);
  }
  if (options.top_k) scores = only_top_k(scores, *options.top_k);
  if (options.class_id) {
    require(scores.rank() > 1,
            "When class_id is provided, y_pred must be a 2D array with shape (num_samples, "
            "num_classes), found shape: ",
            keras_shape(scores.shape()));
    truth = one_class(truth, *options.class_id);
    scores = one_class(scores, *options.class_id);
  }
  const Dims dims = scores.shape().dims();
  Value weights = ops::full_like(scores, 1);
  if (weight) weights = ops::broadcast_to(*weight, dims);
  if (!options.label_weights.empty()) {
    const auto labels = static_cast<int64_t>(options.label_weights.size());
    weights = weights * ops::constant(scores.block(),
                                      Tensor::of(DType::f32, {labels}, options.label_weights));
  }
  truth = ops::not_equal(truth, ops::scalar_like(truth, 0));
  if (options.multi_label) return {truth, scores, weights};
  const auto flat = [](Value x) { return ops::reshape(x, {ops::infer_size}); };
  return {flat(truth), flat(scores), flat(weights)};
}

// A prediction is above all thresholds up to its interval. Cumulative sums over the intervals, from
// the last one on, give the counts of all thresholds.
void add_evenly(Tracer& tracer, const ConfusionCounts& counts, const Decisions& d,
                const std::vector<double>& thresholds) {
  const auto count = static_cast<int64_t>(thresholds.size());
  Value interval = ops::ceil(ops::clip(d.scores, 0, 1) * static_cast<double>(count - 1)) - 1;
  // If the outer thresholds are beyond 0 and 1, no prediction is below all; if not, 0 is.
  const bool all_inside = thresholds.front() < 0 || thresholds.back() > 1;
  if (all_inside) interval = ops::relu(interval);
  interval = ops::where(ops::isnan(interval), ops::scalar_like(interval, 0), interval);
  const Value slot = ops::cast(interval + 1, DType::i32);

  Dims dims = d.scores.shape().dims();
  dims[0] = count + 1;  // the first one is below all thresholds
  const Value empty = ops::full(d.scores.block(), DType::f32, dims, 0);
  const auto above = [&](Value weights) {
    const Value per_slot = ops::scatter_add_along_axis(empty, slot, weights, 0);
    return ops::cumsum(ops::slice_axis(per_slot, 0, 1, ops::to_end), {.axis = 0, .reverse = true});
  };
  const Value zero = ops::scalar_like(d.weights, 0);
  const Value of_true = ops::where(d.truth, d.weights, zero);
  const Value of_false = ops::where(d.truth, zero, d.weights);
  const Value tp = above(of_true), fp = above(of_false);
  add_to(tracer, counts.true_positives, tp);
  add_to(tracer, counts.false_positives, fp);
  add_to(tracer, counts.true_negatives, ops::sum(of_false, {0}) - fp);
  add_to(tracer, counts.false_negatives, ops::sum(of_true, {0}) - tp);
}

// Compares every prediction with every threshold.
void add_compared(Tracer& tracer, const ConfusionCounts& counts, const Decisions& d,
                  const std::vector<double>& thresholds) {
  Dims column(static_cast<size_t>(d.scores.rank()) + 1, 1);
  column[0] = static_cast<int64_t>(thresholds.size());
  const Value limits =
      ops::constant(d.scores.block(), Tensor::of(DType::f32, Shape(column), thresholds));
  const Value positive = ops::greater(ops::expand_dims(d.scores, 0), limits);
  const Value negative = !positive;
  const Value truth = ops::expand_dims(d.truth, 0), untruth = !truth;
  const Value weights = ops::expand_dims(d.weights, 0);
  const auto total = [&](Value which) {
    return ops::sum(ops::where(which, weights, ops::scalar_like(weights, 0)), {1});
  };
  add_to(tracer, counts.true_positives, total(truth & positive));
  add_to(tracer, counts.false_positives, total(untruth & positive));
  add_to(tracer, counts.true_negatives, total(untruth & negative));
  add_to(tracer, counts.false_negatives, total(truth & negative));
}

}  // namespace

std::vector<double> parse_thresholds(const std::optional<Numbers>& given, double fallback) {
  if (!given) return {fallback};
  std::string wrong;
  for (const double t : given->values())
    if (!(t >= 0 && t <= 1)) wrong += text(wrong.empty() ? "" : ", ", t);
  require(wrong.empty(), "Threshold values must be in [0, 1]. Received: [", wrong, "]");
  return given->values();
}

std::vector<double> even_thresholds(int64_t count) {
  constexpr int64_t max_count = 1 << 20;  // a config could request more than there is memory
  require(count <= max_count, "Argument `num_thresholds` must be at most ", max_count,
          ". Received: num_thresholds=", count);
  std::vector<double> thresholds;
  for (int64_t i = 0; i < count; ++i)
    thresholds.push_back(static_cast<double>(i) / static_cast<double>(count - 1));
  return thresholds;
}

bool distributed_evenly(const std::vector<double>& thresholds) {
  if (thresholds.size() < 3) return false;
  const auto even = even_thresholds(static_cast<int64_t>(thresholds.size()));
  return std::equal(thresholds.begin(), thresholds.end(), even.begin(), [](double a, double b) {
    return std::abs(a - b) <= keras_epsilon + 1e-5 * std::abs(b);
  });
}

void add_confusion(Tracer& tracer, const ConfusionCounts& counts, const Sample& sample,
                   const ConfusionOptions& options) {
  (options.evenly ? add_evenly : add_compared)(tracer, counts, decide(sample, options),
                                               options.thresholds);
}

}  // namespace keratin::metrics
