#pragma once

#include "keratin/base/json.h"
#include "keratin/graph/layer.h"

namespace keratin::io {

// The config of a model to be saved. Layers of the user's that have no package are not written as
// Keras's: they get the names that Keras writes for such classes, or "Custom>Name" if Keras has the
// name, too. A warning says what Python needs for these, and for other classes and functions
// without a package.
Json config_to_save(const Layer& model);

}  // namespace keratin::io
