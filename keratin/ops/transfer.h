#pragma once

#include "keratin/ir/node.h"

#pragma GCC visibility push(default)

namespace keratin::ops {

struct TransferAttrs {
  Device device;
  static constexpr auto fields = std::tuple{field("device", &TransferAttrs::device)};
};

// x on another device. The gradient goes back to where x is.
Value transfer(Value x, Device device);

}  // namespace keratin::ops

#pragma GCC visibility pop
