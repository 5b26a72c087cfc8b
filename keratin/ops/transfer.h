#pragma once

#include "keratin/base/export.h"
#include "keratin/ir/node.h"

namespace keratin::ops {

struct KERATIN_API TransferAttrs {
  Device device;
  static constexpr auto fields = field_list(field("device", &TransferAttrs::device));
};

// x on another device. The gradient goes back to where x is.
KERATIN_API Value transfer(Value x, Device device);

// Is the output another name of the input's memory? It is in a view, and on the way from one device
// of the CPU to another. Devices that a CPU stands in for have memory of their own, as GPUs do.
KERATIN_API bool shares_memory(const Node& node);

}  // namespace keratin::ops
