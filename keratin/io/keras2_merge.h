#pragma once

#include <string_view>

#include "keratin/base/json.h"

namespace keratin::io {

// Converts Merge, a layer of Keras 1 and 2.0 that joins its inputs, to the layer that replaces its
// mode today. A Merge with a function as mode becomes a Lambda.
Json layer_for_merge(const Json& envelope);

// A Sequential may begin with a Merge of models. It is converted to a functional model.
bool begins_with_merge(const Json& sequential);
Json model_for_merge(const Json& sequential);

}  // namespace keratin::io
