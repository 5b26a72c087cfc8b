#pragma once

#include "keratin/graph/layer.h"

namespace keratin::io {

// Converts `cosine_proximity` in a training config of Keras 1 or 2 to what that version computed:
// until 2.0.8 the mean over the axis, then the sum; in early tf.keras without the minus sign.
// Losses keep their scale through loss weights, which depend on the sizes of the model's outputs.
Json with_cosine_similarity(const Json& training, const std::string& version, const Layer& model);

}  // namespace keratin::io
