#pragma once

#include "keratin/base/export.h"
#include "keratin/metrics/metric.h"

// Counts of right and wrong decisions at thresholds: predictions above a threshold are positive.
namespace keratin::metrics {

// The user's thresholds, which must be within [0, 1], or the fallback.
KERATIN_API std::vector<double> parse_thresholds(const std::optional<Numbers>& given,
                                                 double fallback = 0.5);
// 0, 1 / (n - 1), …, 1
KERATIN_API std::vector<double> even_thresholds(int64_t count);
// True for 0, 1 / (n - 1), …, 1: then each prediction is counted once, in its interval.
KERATIN_API bool distributed_evenly(const std::vector<double>& thresholds);

// The counts: [thresholds], or [thresholds, labels]. Undefined ones are not computed.
struct ConfusionCounts {
  Variable true_positives = {}, false_positives = {}, true_negatives = {}, false_negatives = {};
};

struct ConfusionOptions {
  std::vector<double> thresholds;
  bool evenly = false;
  std::optional<int64_t> top_k = {};     // only the largest of the last axis can be positive
  std::optional<int64_t> class_id = {};  // only this class counts
  bool multi_label = false;              // labels are counted separately
  std::vector<double> label_weights = {};
};

// Adds a batch. Masks are ignored, as in Keras.
KERATIN_API void add_confusion(Tracer& tracer, const ConfusionCounts& counts, const Sample& sample,
                               const ConfusionOptions& options);

}  // namespace keratin::metrics
