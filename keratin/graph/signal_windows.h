#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace keratin {

// Whether SciPy has a window of this name that needs no parameters. "_periodic" or "_symmetric" may
// follow the name.
bool is_signal_window(std::string_view name);

// The window as `scipy.signal.get_window` gives it. A periodic one is a symmetric one of one more
// element without the last.
std::vector<double> signal_window(std::string_view name, int64_t length, bool periodic);

}  // namespace keratin
