#pragma once

#include <string>
#include <string_view>

namespace keratin {

// Is it a layer of Keras, of any version, that Keratin does not have?
bool is_missing_layer(std::string_view class_name);
// What to say where a file names one, and what to do about it.
std::string missing_layer_message(std::string_view class_name, const std::string& layer);

}  // namespace keratin
