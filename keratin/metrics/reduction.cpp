#include "keratin/metrics/reduction.h"
#include "keratin/graph/tracer.h"

#include "keratin/ops/reduce.h"

namespace keratin::metrics {

MeanMetric::MeanMetric(MeanConfig config, MetricOptions options)
    : MetricOf(config, std::move(options)) {}

void MeanMetric::update(Tracer& tracer, const Sample& sample) {
  add_values(tracer, sample.y_pred, sample.weight, sample.mask);
}

SumMetric::SumMetric(SumConfig config, MetricOptions options)
    : MetricOf(config, std::move(options)), total_(add_variable("total", {})) {}

void SumMetric::update(Tracer& tracer, const Sample& sample) {
  const detail::Samplewise each =
      detail::samplewise(sample.y_pred, sample.weight, sample.mask, dtype(), ops::sum);
  add(tracer, total_, ops::sum(each.values));
}

Value SumMetric::result(Tracer& tracer) { return tracer.read(total_); }

MeanOfFunction::MeanOfFunction(Function function, MetricOptions options, Json config,
                               Direction direction)
    : MeanState("MeanMetricWrapper", std::move(options)),
      function_(std::move(function)),
      config_(std::move(config)),
      direction_(direction) {}

std::shared_ptr<MetricState> MeanOfFunction::fresh_copy() const {
  return std::make_shared<MeanOfFunction>(function_, options(), config_, direction_);
}

void MeanOfFunction::update(Tracer& tracer, const Sample& sample) {
  add_terms(tracer, function_(sample.y_true, sample.y_pred), sample);
}

MeanMetricWrapper::MeanMetricWrapper(MeanOfFunction::Function function, MetricOptions options,
                                     Json config, Direction direction)
    : Metric(std::make_shared<MeanOfFunction>(std::move(function), std::move(options),
                                              std::move(config), direction)) {}

}  // namespace keratin::metrics
