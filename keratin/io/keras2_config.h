#pragma once

#include "keratin/base/json.h"

namespace keratin::io {

// A config of Keras 1 or 2 with the functions that it means where a name means another today,
// "hard_sigmoid", and with optimizers in today's words: their `decay` is a schedule. Lambdas are
// left alone.
Json from_keras2(const Json& config);

}  // namespace keratin::io
