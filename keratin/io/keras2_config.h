#pragma once

#include <string>
#include <string_view>

#include "keratin/base/json.h"

namespace keratin::io {

// A config of Keras 1 or 2 with the functions that it means where a name means another today,
// "hard_sigmoid", with optimizers in today's words (their `decay` is a schedule), layers that are
// others today, initializers without dtypes, and names without slashes. What Lambdas hold is left
// alone.
Json from_keras2(const Json& config);
// The same of a config that may be in Keras 1's words.
Json from_old(const Json& config, bool keras1);

// Warns of layers that another version of Keras computed otherwise, for which there is none today.
void warn_of_other_sampling(const Json& config, const std::string& version);

// Names had slashes, which Keras 3 refuses.
std::string portable_name(std::string name);
// JSON that may be a string in JSON, as writers of strings leave it.
Json unpacked_json(std::string_view text);

}  // namespace keratin::io
