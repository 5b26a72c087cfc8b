#pragma once

#include "keratin/cli/data.h"

namespace keratin::cli {

// Data for programs that are measured or looked at: any numbers that every layer takes.
Option open_size_option();

// One batch of inputs. Axes that the model leaves open, but for that of samples, get `open_size`.
Tree<Tensor> made_up_inputs(const Model& model, int64_t batch, int64_t open_size);
// One batch of inputs and targets for a compiled model.
Batch made_up_samples(const Model& model, int64_t batch, int64_t open_size);

}  // namespace keratin::cli
