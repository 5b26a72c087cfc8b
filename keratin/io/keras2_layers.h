#pragma once

#include "keratin/base/json.h"

namespace keratin::io {

// Warns of the layers in a config that Keras 3 does not have: it cannot open a file with them.
void warn_of_keras2_layers(const Json& config);

}  // namespace keratin::io
