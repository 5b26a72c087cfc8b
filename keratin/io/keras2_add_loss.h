#pragma once

#include "keratin/base/json.h"

namespace keratin::io {

// True for a functional model of Keras 2 with losses from `model.add_loss` that no output needs.
// Keras 2 keeps the layers of such a loss beside its graph.
bool has_losses_beside(const Json& model);
// The same model where each of these losses goes with the first output through its AddLoss, which
// returns the output: so all layers are between the inputs and the outputs.
Json with_losses_inside(const Json& model);
// A training config of this model where what belongs to its first output, by name, belongs to the
// last AddLoss, which is the output now. Other models' are returned as they are.
Json for_losses_inside(const Json& training, const Json& model);

}  // namespace keratin::io
