#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

namespace keratin::ops {

struct KERATIN_API TransferAttrs {
  Device device;
  static constexpr auto fields = field_list(field("device", &TransferAttrs::device));
};

// x on another device. The gradient is transferred back to the device of x.
KERATIN_API Value transfer(Value x, Device device);

// True if the output shares the memory of the input: for views, and for transfers between devices
// of the CPU. Virtual devices have their own memory, as GPUs do.
KERATIN_API bool shares_memory(const Node& node);

}  // namespace keratin::ops
