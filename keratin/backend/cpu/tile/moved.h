#pragma once

#include <cstdint>

namespace keratin::cpu {

// An address so many bytes on. It may lie outside of the array, or start from nullptr, as long as
// nobody reads there; for a pointer that would be undefined, so a number is moved.
inline const char* moved(const void* pointer, int64_t bytes) {
  return reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(pointer) +
                                       static_cast<uintptr_t>(bytes));
}
inline char* moved(void* pointer, int64_t bytes) {
  return const_cast<char*>(moved(static_cast<const void*>(pointer), bytes));
}

}  // namespace keratin::cpu
