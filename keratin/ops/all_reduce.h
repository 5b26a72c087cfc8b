#pragma once

#include "keratin/ir/node.h"

namespace keratin::ops {

struct AllReduceAttrs {
  std::vector<Device> devices;
  static constexpr auto fields = field_list(field("devices", &AllReduceAttrs::devices));
};

// One node for what devices do together: each has a part of every tensor of a bucket, and gets the
// sum of all its parts. Inputs and outputs are the parts of the first tensor in the order of the
// devices, then those of the next. It runs on the first device; a backend may have a library for
// it, others take it apart.
extern const OpDef all_reduce_op;
std::vector<Values> all_reduce(const std::vector<Values>& bucket);

// The same by transfers and additions: each device makes its share of the sums, and sends them to
// the others.
std::vector<Values> all_reduce_by_transfers(const std::vector<Values>& bucket);

}  // namespace keratin::ops
