#pragma once

#include <cstdint>

namespace keratin::cpu {

// The address `bytes` further on. It may lie outside of the array, or start from nullptr, as long
// as nobody reads there; pointer arithmetic would be undefined, so this computes with integers.
inline const char* moved(const void* pointer, int64_t bytes) {
  return reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(pointer) +
                                       static_cast<uintptr_t>(bytes));
}
inline char* moved(void* pointer, int64_t bytes) {
  return const_cast<char*>(moved(static_cast<const void*>(pointer), bytes));
}

}  // namespace keratin::cpu
