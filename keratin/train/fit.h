#pragma once

#include "keratin/train/callback.h"

#pragma GCC visibility push(default)

namespace keratin {

// The loops over epochs and batches. `data` gives the batches of a pass for a seed of shuffling.
using MakeData = std::function<Dataset(uint64_t shuffle_seed)>;

History fit(Trainer& trainer, const MakeData& data, const std::optional<Dataset>& validation,
            const FitOptions& options);
Logs evaluate(Trainer& trainer, const Dataset& data, const EvaluateOptions& options);

// Tensors as batches: split, weighted and shuffled as the options say.
struct FitData {
  MakeData train;
  std::optional<Dataset> validation;
};
FitData fit_data(const Tree<Tensor>& x, const Tree<Tensor>& y, const FitOptions& options);
FitData fit_data(const Dataset& data, const FitOptions& options);

// The weights of samples by the class in `y`: a number, or the place of the largest of several.
Batch with_class_weight(Batch batch, const std::map<int64_t, double>& class_weight);

}  // namespace keratin

#pragma GCC visibility pop
