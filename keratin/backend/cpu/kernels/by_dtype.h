#pragma once

#include <cstddef>

#include "keratin/tensor/dtype.h"

namespace keratin::cpu {

// One kernel per element type; null where a kernel does not serve the type.
template <class Function>
struct ByDType {
  Function kernels[9] = {};

  [[gnu::always_inline]] Function operator[](DType dtype) const {
    return kernels[static_cast<size_t>(dtype)];
  }
  [[gnu::always_inline]] Function& operator[](DType dtype) {
    return kernels[static_cast<size_t>(dtype)];
  }
};

}  // namespace keratin::cpu
