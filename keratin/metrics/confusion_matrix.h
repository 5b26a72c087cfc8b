#pragma once

#include "keratin/base/export.h"
#include "keratin/metrics/metric.h"

// Counts of right and wrong decisions at thresholds: what is above one is taken for positive.
namespace keratin::metrics {

// The thresholds a user gave, all within [0, 1], or the one that is used otherwise.
KERATIN_API std::vector<double> parse_thresholds(const std::optional<Numbers>& given,
                                                 double otherwise = 0.5);
// 0, 1 / (n - 1), …, 1
KERATIN_API std::vector<double> even_thresholds(int64_t count);
// Are they 0, 1 / (n - 1), …, 1? Then each prediction is counted once, in the interval it lies in.
KERATIN_API bool distributed_evenly(const std::vector<double>& thresholds);

// Where counts go: [thresholds], or [thresholds, labels]. Undefined ones are not wanted.
struct ConfusionCounts {
  Variable true_positives = {}, false_positives = {}, true_negatives = {}, false_negatives = {};
};

struct ConfusionOptions {
  std::vector<double> thresholds;
  bool evenly = false;
  std::optional<int64_t> top_k = {};     // of the last axis, only so many can be positive
  std::optional<int64_t> class_id = {};  // only this class is looked at
  bool multi_label = false;              // labels are counted each for itself
  std::vector<double> label_weights = {};
};

// Adds a batch. Masks play no part, as in Keras.
KERATIN_API void add_confusion(Tracer& tracer, const ConfusionCounts& counts, const Sample& sample,
                               const ConfusionOptions& options);

}  // namespace keratin::metrics
