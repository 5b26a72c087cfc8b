#pragma once

#include "keratin/model/model.h"

namespace keratin::testing {

// A clone of the model has new weights at the same paths, the same config and layers, gives the
// same outputs and masks after copying weights, and the model does not change.
void expect_clones_agree(const Model& model, const Tree<Tensor>& inputs);

}  // namespace keratin::testing
