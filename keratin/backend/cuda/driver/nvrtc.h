#pragma once

#include <string>

namespace keratin::cuda {

// True if there is an NVRTC; if not, `reason` says why.
bool can_compile(std::string* reason = nullptr);

// Everything that the result of `compile` depends on.
std::string compiler_input(const std::string& source, const std::string& chip);

// Compiles source code, after the prelude, for a chip ("sm_90"): returns machine code. Throws
// BackendError with the compiler's messages if it does not compile.
std::string compile(const std::string& source, const std::string& chip);

}  // namespace keratin::cuda
