#pragma once

#include <cstdint>

namespace keratin::simulator {

// Thrown inside a library by functions that do not support a request.
struct Refused {
  int status;
};

inline void need(bool condition, int status) {
  if (!condition) throw Refused{status};
}

// The status that the caller gets; 0 is success.
template <class Work>
int status_of(const Work& work) {
  try {
    work();
    return 0;
  } catch (const Refused& refused) {
    return refused.status;
  }
}

inline bool is_aligned(const void* address, uint64_t alignment) {
  return reinterpret_cast<uint64_t>(address) % alignment == 0;
}

}  // namespace keratin::simulator
