#pragma once

#include "keratin/train/callback.h"

namespace keratin {

// The data of a training run. `train` returns the batches of all epochs for a seed of shuffling.
struct FitData {
  std::function<Dataset(uint64_t shuffle_seed)> train;
  bool one_pass = false;  // a generator, which cannot begin again
  std::optional<Dataset> validation;
};
// Rows are split, weighted and shuffled as the options say.
FitData fit_data(const Data& data, const FitOptions& options);

// The loops over epochs and batches.
History fit(Trainer& trainer, const FitData& data, const FitOptions& options);
Logs evaluate(Trainer& trainer, const Dataset& data, const EvaluateOptions& options);

// Weighs samples by the class in `y`: a number, or the index of the largest of several.
Batch with_class_weight(Batch batch, const std::map<int64_t, double>& class_weight);

}  // namespace keratin
