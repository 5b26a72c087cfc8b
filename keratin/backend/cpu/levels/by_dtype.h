#pragma once

#include <cstddef>

#include "keratin/tensor/dtype.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu {

// One function per element type; null where there is none for the type.
template <class Function>
struct ByDType {
  Function functions[9] = {};

  [[gnu::always_inline]] constexpr Function operator[](DType dtype) const {
    return functions[static_cast<size_t>(dtype)];
  }
  [[gnu::always_inline]] constexpr Function& operator[](DType dtype) {
    return functions[static_cast<size_t>(dtype)];
  }
};

// Sets pick(TypeTag<T>) for the given storage types.
template <class... T, class Function, class Pick>
[[gnu::always_inline]] constexpr void set_types(ByDType<Function>& out, const Pick& pick) {
  ((out[dtype_of<T>()] = pick(TypeTag<T>{})), ...);
}
template <class Function, class Pick>
[[gnu::always_inline]] constexpr void set_floats(ByDType<Function>& out, const Pick& pick) {
  set_types<double, float, Half, BFloat16>(out, pick);
}

}  // namespace keratin::cpu
