#pragma once

#include <string_view>

#include "keratin/base/json.h"

namespace keratin {

// What Keras 1 and 2 call "hard_sigmoid": x / 5 + 1/2, within [0, 1]. Keras 3 has another function
// of that name (x / 6 + 1/2), so here the old one has a name of its own.
inline constexpr std::string_view keras2_hard_sigmoid = "keras2_hard_sigmoid";

// For files: a Sequential of that name which computes it, as an activation may be any layer. Keras
// 3 opens and runs it.
Json keras2_hard_sigmoid_json();
// Whether an activation in a config is that Sequential.
bool is_keras2_hard_sigmoid(const Json& activation);

}  // namespace keratin
