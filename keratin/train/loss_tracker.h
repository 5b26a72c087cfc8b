#pragma once

#include "keratin/graph/tracer.h"
#include "keratin/metrics/metric.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

// The mean of a loss over batches, weighted by their numbers of samples.
class LossTracker final : public MeanState {
 public:
  explicit LossTracker(std::string name) : MeanState("Mean", {.name = std::move(name)}) {}
  std::string_view class_name() const override { return "Mean"; }
  std::shared_ptr<MetricState> fresh_copy() const override {
    return std::make_shared<LossTracker>(name());
  }
  bool lower_is_better() const override { return true; }
  void update(Tracer& tracer, const Sample& sample) override {
    add_values(tracer, sample.y_pred, sample.weight);
  }
};

inline void track(MetricState& tracker, Tracer& tracer, Value loss, int64_t samples) {
  tracker.update(tracer, {.y_true = {},
                          .y_pred = loss,
                          .weight = ops::scalar_like(loss, static_cast<double>(samples))});
}

}  // namespace keratin
