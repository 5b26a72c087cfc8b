#pragma once

#include "keratin/base/json.h"

namespace keratin::io {

// The config of a model to be saved. Layers of the user's that have no package are not written as
// Keras's: they get the names that Keras writes for such classes, with a warning that says what
// Python needs.
Json with_user_layers(Json config);

}  // namespace keratin::io
