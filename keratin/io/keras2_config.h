#pragma once

#include <string>
#include <string_view>

#include "keratin/base/json.h"

namespace keratin::io {

// Converts a config of Keras 2 to Keras 3's form: functions whose names changed their meaning
// ("hard_sigmoid"), optimizers (`decay` becomes a schedule), layers that were replaced,
// initializers without dtypes, and names without slashes. The contents of Lambdas are not changed.
Json from_keras2(const Json& config);
// The same for a config that Keras 1 may have written.
Json from_old(const Json& config, bool keras1);

// Warns of layers that this version of Keras computed differently from any layer of today.
void warn_of_other_sampling(const Json& config, const std::string& version);

// Replaces slashes in a name, which Keras 3 refuses.
std::string portable_name(std::string name);
// Parses JSON that may be encoded as a JSON string, once or several times.
Json unpacked_json(std::string_view encoded);

}  // namespace keratin::io
