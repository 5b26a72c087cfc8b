#pragma once

#include "keratin/ir/node.h"

namespace keratin::ops {

struct AllReduceAttrs {
  std::vector<Device> devices;
  static constexpr auto fields = field_list(field("devices", &AllReduceAttrs::devices));
};

// One node for all sums of a bucket: each device has one addend of every sum, and gets all the
// sums. The inputs are the addends of the first sum in the order of the devices, then those of the
// next; the outputs are the sums in the same order. The node runs on the first device. A backend
// may run it with a library; elsewhere it is decomposed.
std::vector<Values> all_reduce(const std::vector<Values>& bucket);

// The same with transfers and additions: each device computes some of the sums and sends them to
// the others.
std::vector<Values> all_reduce_by_transfers(const std::vector<Values>& bucket);

}  // namespace keratin::ops
