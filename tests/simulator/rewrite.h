#pragma once

#include <string>

namespace keratin::simulator {

// CUDA C++ as g++ reads it behind device.h: instructions become calls of `ptx`, shared memory
// without a size becomes the block's.
std::string as_cpp(const std::string& text);

// The exports of a module: the kernels that a source defines.
std::string module_of(const std::string& text);

}  // namespace keratin::simulator
