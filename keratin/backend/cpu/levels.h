#pragma once

#include <cstddef>
#include <vector>

// Routines: the plain functions that kernels call. They work on raw pointers, know nothing of the
// ir, take the number of threads with their arguments, allocate nothing, and give the same bits
// whatever that number is. The files of levels/ are compiled once per x86-64 level, because wider
// registers make them faster; each has a family of routines, a struct of function pointers.
namespace keratin::cpu {

enum class Level { v2, v3, v4 };

// The levels that this processor runs, lowest first; never empty.
const std::vector<Level>& levels();

// The position of the level in `levels()`, where it must be.
size_t level_index(Level level);

// A family's routines for a level; without one, for the highest that this processor runs.
template <class Family>
const Family& routines(Level level) {
#if defined(__x86_64__)
  constexpr const Family* of_level[] = {&Family::v2, &Family::v3, &Family::v4};
  return *of_level[level_index(level)];
#else
  level_index(level);
  return Family::portable;
#endif
}
template <class Family>
const Family& routines() {
  return routines<Family>(levels().back());
}

}  // namespace keratin::cpu
