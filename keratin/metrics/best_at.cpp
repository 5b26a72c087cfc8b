#include "keratin/metrics/confusion.h"

#include "keratin/base/text.h"
#include "keratin/graph/tracer.h"
#include "keratin/losses/weighting.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin::metrics {
namespace {

// A config's first field: the lower bound, with its name.
template <class Config>
auto bound_field() {
  return Config::fields([](const auto& first, const auto&...) { return first; });
}

Value rate(Rate which, Tracer& tracer, const ConfusionCounts& counts) {
  const Value tp = tracer.read(counts.true_positives), tn = tracer.read(counts.true_negatives);
  switch (which) {
    case Rate::sensitivity:
      return divide_no_nan(tp, tp + tracer.read(counts.false_negatives));
    case Rate::specificity:
      return divide_no_nan(tn, tn + tracer.read(counts.false_positives));
    case Rate::precision:
      break;
  }
  return divide_no_nan(tp, tp + tracer.read(counts.false_positives));
}

}  // namespace

template <class Config>
BestAt<Config>::BestAt(Config config, MetricOptions options)
    : MetricOf<BestAt<Config>, Config>(std::move(config), std::move(options)) {
  const auto bound = bound_field<Config>();
  const double value = this->cfg.*bound.member;
  require(value >= 0 && value <= 1, "Argument `", bound.name,
          "` must be in the range [0, 1]. Received: ", bound.name, "=", value);
  const int64_t count = this->cfg.num_thresholds;
  require(count > 0,
          "Argument `num_thresholds` must be an integer > 0. Received: num_thresholds=", count);
  options_of_counts_.thresholds = count == 1 ? std::vector<double>{0.5} : even_thresholds(count);
  options_of_counts_.evenly = count > 1;
  options_of_counts_.class_id = this->cfg.class_id;
  counts_ = {this->add_variable("true_positives", {count}, DType::f32),
             this->add_variable("false_positives", {count}, DType::f32),
             this->add_variable("true_negatives", {count}, DType::f32),
             this->add_variable("false_negatives", {count}, DType::f32)};
}

template <class Config>
void BestAt<Config>::update(Tracer& tracer, const Sample& sample) {
  add_confusion(tracer, counts_, sample, options_of_counts_);
}

template <class Config>
Value BestAt<Config>::result(Tracer& tracer) {
  const Value best = rate(Config::best, tracer, counts_);
  const Value enough =
      rate(Config::bounded, tracer, counts_) >= this->cfg.*bound_field<Config>().member;
  return ops::max(ops::where(enough, best, ops::scalar_like(best, 0)));
}

template class BestAt<SensitivityAtSpecificityConfig>;
template class BestAt<SpecificityAtSensitivityConfig>;
template class BestAt<PrecisionAtRecallConfig>;
template class BestAt<RecallAtPrecisionConfig>;

}  // namespace keratin::metrics
