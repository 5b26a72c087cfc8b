#pragma once

#include "keratin/graph/layer.h"

namespace keratin::io {

// A training config of Keras 1 or 2 with `cosine_proximity` as what it was for that version: until
// 2.0.8 the mean over the axis, then the sum; in TensorFlow without the minus at first. Losses keep
// their scale by loss weights, which follow from the model's outputs.
Json with_cosine_similarity(const Json& training, const std::string& version, const Layer& model);

}  // namespace keratin::io
