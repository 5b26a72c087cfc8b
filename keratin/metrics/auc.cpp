#include "keratin/metrics/confusion.h"

#include <algorithm>
#include <cctype>

#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/graph/tracer.h"
#include "keratin/ir/node.h"
#include "keratin/losses/weighting.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"

namespace keratin::metrics {
namespace {

// Accepts "roc" and "ROC", "interpolation" and "Interpolation", as Keras does.
AUCConfig standardized(AUCConfig config) {
  std::string& curve = config.curve;
  const std::string lower = lower_case(curve);
  std::string upper = curve;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  require(
      (curve == upper || curve == lower) && (upper == "PR" || upper == "ROC" || upper == "PRGAIN"),
      "Invalid AUC curve value: \"", curve,
      "\". Expected values are [\"PR\", \"ROC\", \"PRGAIN\"]");
  curve = upper;
  std::string method = config.summation_method;
  if (!method.empty()) method = lower_case(method.substr(0, 1)) + method.substr(1);
  require(method == "interpolation" || method == "majoring" || method == "minoring",
          "Invalid AUC summation method value: \"", config.summation_method,
          "\". Expected values are [\"interpolation\", \"majoring\", \"minoring\"]");
  config.summation_method = method;
  if (config.thresholds) {
    std::sort(config.thresholds->begin(), config.thresholds->end());
    config.num_thresholds = static_cast<int64_t>(config.thresholds->size()) + 2;
  }
  require(config.num_thresholds > 1,
          "Argument `num_thresholds` must be an integer > 1. Received: num_thresholds=",
          config.num_thresholds);
  require(config.multi_label || config.num_labels.value_or(0) == 0,
          "`num_labels` is needed only when `multi_label` is True.");
  return config;
}

// Values at all thresholds but the last, and at all but the first.
Value upper(Value x) { return ops::slice_axis(x, 0, 0, x.shape()[0] - 1); }
Value lower(Value x) { return ops::slice_axis(x, 0, 1, ops::to_end); }

Value zero_like(Value x) { return ops::scalar_like(x, 0); }

}  // namespace

AUCMetric::AUCMetric(AUCConfig config, MetricOptions options)
    : MetricOf(standardized(std::move(config)), std::move(options)) {
  auto& thresholds = options_of_counts_.thresholds;
  thresholds = even_thresholds(cfg.num_thresholds);
  if (cfg.thresholds)
    std::copy(cfg.thresholds->begin(), cfg.thresholds->end(), thresholds.begin() + 1);
  options_of_counts_.evenly = !cfg.thresholds || distributed_evenly(thresholds);
  thresholds.front() -= keras_epsilon;
  thresholds.back() += keras_epsilon;
  options_of_counts_.multi_label = cfg.multi_label;
  if (cfg.label_weights && !cfg.multi_label)
    options_of_counts_.label_weights = cfg.label_weights->values();
  if (!cfg.multi_label)
    add_counts({cfg.num_thresholds});
  else if (cfg.num_labels.value_or(0) != 0)
    add_counts({cfg.num_thresholds, *cfg.num_labels});
}

void AUCMetric::make_variables(const Shape&, const Shape& y_pred) {
  if (counts_.true_positives.defined()) return;
  require(y_pred.rank() == 2, "`y_pred` must have rank 2 when `multi_label=True`. Found rank ",
          y_pred.rank(), ". Full shape received for `y_pred`: ", keras_shape(y_pred));
  add_counts({cfg.num_thresholds, y_pred[1]});
}

void AUCMetric::add_counts(const Shape& shape) {
  counts_ = {add_variable("true_positives", shape, DType::f32),
             add_variable("false_positives", shape, DType::f32),
             add_variable("true_negatives", shape, DType::f32),
             add_variable("false_negatives", shape, DType::f32)};
}

void AUCMetric::update(Tracer& tracer, const Sample& sample) {
  Sample seen = sample;
  if (cfg.from_logits) {
    if (!is_float(seen.y_pred.dtype())) seen.y_pred = cast_to(seen.y_pred, DType::f32);
    seen.y_pred = ops::sigmoid(seen.y_pred);
  }
  add_confusion(tracer, counts_, seen, options_of_counts_);
}

Value AUCMetric::over_labels(Value areas) const {
  if (!cfg.multi_label) return ops::sum(areas);
  const Value by_label = ops::sum(areas, {0});
  if (!cfg.label_weights) return ops::mean(by_label);
  const auto& list = cfg.label_weights->values();
  const Value weights = ops::constant(
      by_label.block(), Tensor::of(by_label.dtype(), {static_cast<int64_t>(list.size())}, list));
  return divide_no_nan(ops::sum(by_label * weights), ops::sum(weights));
}

// Between thresholds, true positives are interpolated linearly, not precision (Davis and Goadrich,
// 2006): with p = tp + fp, tp = a + slope · p, the area is
// slope · (Δtp + a · log(p₁ / p₀)) / positives.
Value AUCMetric::under_precision_recall(const Counts& c) const {
  const Value p = c.tp + c.fp;
  const Value rise = upper(c.tp) - lower(c.tp);
  const Value run = upper(p) - lower(p);
  const Value slope = divide_no_nan(rise, ops::maximum(run, zero_like(run)));
  const Value intercept = lower(c.tp) - slope * lower(p);
  const Value both = (upper(p) > 0) & (lower(p) > 0);
  const Value ratio = ops::where(both, divide_no_nan(upper(p), lower(p)), ops::full_like(run, 1));
  const Value positives = lower(c.tp) + lower(c.fn);
  return divide_no_nan(slope * (rise + intercept * ops::log(ratio)),
                       ops::maximum(positives, zero_like(positives)));
}

Value AUCMetric::under_curve(const Counts& c) const {
  Value x, y;
  const Value recall = divide_no_nan(c.tp, c.tp + c.fn);
  if (cfg.curve == "ROC") {
    x = divide_no_nan(c.fp, c.fp + c.tn);
    y = recall;
  } else if (cfg.curve == "PR") {
    x = recall;
    y = divide_no_nan(c.tp, c.tp + c.fp);
  } else {
    // Gains over predicting positive always (Flach and Kull, 2015).
    const Value odds = divide_no_nan(c.tp + c.fn, c.tn + c.fp);
    const Value none = ops::equal(c.tp, zero_like(c.tp));
    const auto gain = [&](Value wrong, double fallback) {
      return ops::where(none, ops::full_like(c.tp, fallback),
                        1 - odds * divide_no_nan(wrong, c.tp));
    };
    x = gain(c.fn, 0);
    x = ops::maximum(x, zero_like(x));
    y = gain(c.fp, 1);
  }
  Value heights = (upper(y) + lower(y)) / 2;
  if (cfg.summation_method == "minoring") heights = ops::minimum(upper(y), lower(y));
  if (cfg.summation_method == "majoring") heights = ops::maximum(upper(y), lower(y));
  return (upper(x) - lower(x)) * heights;
}

Value AUCMetric::result(Tracer& tracer) {
  if (!counts_.true_positives.defined()) require_built();
  const Counts counts = {tracer.read(counts_.true_positives), tracer.read(counts_.false_positives),
                         tracer.read(counts_.true_negatives), tracer.read(counts_.false_negatives)};
  const bool interpolated = cfg.curve == "PR" && cfg.summation_method == "interpolation";
  return over_labels(interpolated ? under_precision_recall(counts) : under_curve(counts));
}

}  // namespace keratin::metrics
