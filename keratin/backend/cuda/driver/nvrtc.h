#pragma once

#include <string>

namespace keratin::cuda {

// Is there an NVRTC? Otherwise, why not.
bool can_compile(std::string* reason = nullptr);

// All that decides about the code that `compile` makes.
std::string compiler_input(const std::string& source, const std::string& chip);

// The kernels' text, with the prelude in front of it, compiled for a chip ("sm_90"): machine code.
// BackendError with the compiler's words when the text is wrong.
std::string compile(const std::string& source, const std::string& chip);

}  // namespace keratin::cuda
