#pragma once

#include <string>
#include <string_view>

namespace keratin {

// True for a layer of any version of Keras that Keratin does not have, see registry.cpp.
bool is_missing_layer(std::string_view class_name);
// The error where a file names one, with what the user can do.
std::string missing_layer_message(std::string_view class_name, const std::string& layer);

}  // namespace keratin
