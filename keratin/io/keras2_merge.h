#pragma once

#include <string_view>

#include "keratin/base/json.h"

namespace keratin::io {

// Merge, Keras 1's layer that joins others and still in Keras 2.0, as the layer that each of its
// modes is today. A function as its mode is a Lambda.
Json layer_for_merge(const Json& envelope);

// A Sequential may begin with a Merge of models: such a one is a functional model of these.
bool begins_with_merge(const Json& sequential);
Json model_for_merge(const Json& sequential);

}  // namespace keratin::io
