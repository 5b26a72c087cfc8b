#pragma once

#include "keratin/ir/node.h"

// How devices combine their values. Each function appends nodes to the block of its values. The
// addends of a sum, like the shards of a tensor, are one value per device; sums are made in the
// order of the addends, so that all bits are reproducible.
namespace keratin::ops::collective {

// The size of a bucket at which the fixed cost of a message is negligible.
inline constexpr int64_t bucket_bytes = int64_t{1} << 20;

// An addend of a later `reduce` on the device `to`: its transfer may start at once.
Value send(Value addend, Device to);
// Σ addends, on the device `to`.
Value reduce(const Values& addends, Device to);
// Σ addends, on the device of each addend.
Values all_reduce(const Values& addends);
// The same for several sums at once, all over the same devices: a bucket of gradients. On GPUs the
// backend may use a library.
std::vector<Values> all_reduce_bucket(const std::vector<Values>& bucket);
// The shards concatenated along an axis, on the device `to`.
Value gather(const Values& shards, int64_t axis, Device to);

}  // namespace keratin::ops::collective
