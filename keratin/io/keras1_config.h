#pragma once

#include "keratin/base/json.h"

namespace keratin::io {

// Converts the envelope of a model of Keras 1 to that of Keras 2: names of classes and keys, and
// the layers of a Sequential as a list.
Json from_keras1(const Json& envelope);
// True if Keras 1 wrote the envelope. Most of its versions do not write their number, so this looks
// for keys that only Keras 1 has.
bool is_keras1(const Json& envelope);

}  // namespace keratin::io
