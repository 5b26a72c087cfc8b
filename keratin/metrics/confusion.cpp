#include "keratin/metrics/confusion.h"
#include "keratin/graph/tracer.h"

#include "keratin/losses/weighting.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"

namespace keratin::metrics {
namespace {

constexpr double any_score = -1e10;

std::string variable_name(Variable ConfusionCounts::*which) {
  if (which == &ConfusionCounts::false_positives) return "false_positives";
  if (which == &ConfusionCounts::false_negatives) return "false_negatives";
  return which == &ConfusionCounts::true_positives ? "true_positives" : "true_negatives";
}

ConfusionOptions at_thresholds(std::vector<double> thresholds) {
  ConfusionOptions options{.thresholds = std::move(thresholds)};
  options.evenly = distributed_evenly(options.thresholds);
  return options;
}

Shape shape_of(const ConfusionOptions& options) {
  return {static_cast<int64_t>(options.thresholds.size())};
}

// A number if there is one threshold.
Value number_or_vector(Value result) {
  return result.shape().count() == 1 ? ops::squeeze(result, 0) : result;
}

}  // namespace

template <class Config>
ConfusionCount<Config>::ConfusionCount(Config config, MetricOptions options)
    : MetricOf<ConfusionCount<Config>, Config>(std::move(config), std::move(options)),
      options_of_counts_(at_thresholds(parse_thresholds(this->cfg.thresholds))) {
  counts_.*Config::counted =
      this->add_variable("accumulator", shape_of(options_of_counts_), DType::f32);
}

template <class Config>
void ConfusionCount<Config>::update(Tracer& tracer, const Sample& sample) {
  add_confusion(tracer, counts_, sample, options_of_counts_);
}

template <class Config>
Value ConfusionCount<Config>::result(Tracer& tracer) {
  return number_or_vector(tracer.read(counts_.*Config::counted));
}

template <class Config>
RateOf<Config>::RateOf(Config config, MetricOptions options)
    : MetricOf<RateOf<Config>, Config>(std::move(config), std::move(options)),
      options_of_counts_(at_thresholds(
          parse_thresholds(this->cfg.thresholds, this->cfg.top_k ? any_score : 0.5))) {
  options_of_counts_.top_k = this->cfg.top_k;
  options_of_counts_.class_id = this->cfg.class_id;
  for (const auto which : {&ConfusionCounts::true_positives, Config::others})
    counts_.*which =
        this->add_variable(variable_name(which), shape_of(options_of_counts_), DType::f32);
}

template <class Config>
void RateOf<Config>::update(Tracer& tracer, const Sample& sample) {
  add_confusion(tracer, counts_, sample, options_of_counts_);
}

template <class Config>
Value RateOf<Config>::result(Tracer& tracer) {
  const Value right = tracer.read(counts_.true_positives);
  return number_or_vector(divide_no_nan(right, right + tracer.read(counts_.*Config::others)));
}

template class ConfusionCount<TruePositivesConfig>;
template class ConfusionCount<FalsePositivesConfig>;
template class ConfusionCount<TrueNegativesConfig>;
template class ConfusionCount<FalseNegativesConfig>;
template class RateOf<PrecisionConfig>;
template class RateOf<RecallConfig>;

}  // namespace keratin::metrics
