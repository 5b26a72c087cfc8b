#pragma once

#include <string>
#include <string_view>

namespace keratin {

// "dense", then "dense_1", "dense_2", …: unique in the program until clear_session().
std::string unique_name(std::string_view prefix);

}  // namespace keratin
