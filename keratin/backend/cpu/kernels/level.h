#pragma once

#include "keratin/backend/cpu/kernels/by_dtype.h"

// How a family of kernels fills its part of the level's table. Only kernels include this.
namespace keratin::cpu::KERATIN_LEVEL {

// Sets pick(TypeTag<T>) for the given storage types.
template <class... T, class Function, class Pick>
[[gnu::always_inline]] inline void set_types(ByDType<Function>& out, const Pick& pick) {
  ((out[dtype_of<T>()] = pick(TypeTag<T>{})), ...);
}
template <class Function, class Pick>
[[gnu::always_inline]] inline void set_floats(ByDType<Function>& out, const Pick& pick) {
  set_types<double, float, Half, BFloat16>(out, pick);
}

}  // namespace keratin::cpu::KERATIN_LEVEL
