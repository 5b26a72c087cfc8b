#pragma once

#include "keratin/ir/node.h"

#pragma GCC visibility push(default)

namespace keratin::ops {

struct TransferAttrs {
  Device device;
  static constexpr auto fields = field_list(field("device", &TransferAttrs::device));
};

// x on another device. The gradient goes back to where x is.
Value transfer(Value x, Device device);

// Is the output another name of the input's memory? It is in a view, and on the way from one device
// of the CPU to another. Devices that a CPU stands in for have memory of their own, as GPUs do.
bool shares_memory(const Node& node);

}  // namespace keratin::ops

#pragma GCC visibility pop
