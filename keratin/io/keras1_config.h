#pragma once

#include "keratin/base/json.h"

namespace keratin::io {

// The envelope of a model of Keras 1, in the words of Keras 2: other names of classes and keys,
// and the layers of a Sequential as a list.
Json from_keras1(const Json& envelope);
// Did Keras 1 write it? Most of its versions do not say so, but their keys do.
bool is_keras1(const Json& envelope);

}  // namespace keratin::io
