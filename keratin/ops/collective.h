#pragma once

#include "keratin/ir/node.h"

namespace keratin::ops {

// How devices combine their values; a faster library can be plugged in here. Each function appends
// nodes to the block of its values. The addends of a sum, like the shards of a tensor, are one
// value per device.
class Collective {
 public:
  virtual ~Collective() = default;
  // An addend of a later `reduce` on the device `to`: its transfer may start at once.
  virtual Value send(Value addend, Device to) const = 0;
  // Σ addends, on the device `to`.
  virtual Value reduce(const Values& addends, Device to) const = 0;
  // Σ addends, on the device of each addend.
  virtual Values all_reduce(const Values& addends) const = 0;
  // The same for several sums at once, all over the same devices: a bucket of gradients.
  virtual std::vector<Values> all_reduce(const std::vector<Values>& bucket) const = 0;
  // The size of a bucket at which the fixed cost of a message is negligible.
  virtual int64_t bucket_bytes() const { return int64_t{1} << 20; }
  // The shards concatenated along an axis, on the device `to`.
  virtual Value gather(const Values& shards, int64_t axis, Device to) const = 0;
};

// Transfers and additions, in the order of the addends, so that all bits are reproducible.
const Collective& in_process_collective();

// The collective that is used; in_process_collective by default. Must be set before programs are
// built.
const Collective& collective();
void set_collective(const Collective& collective);

}  // namespace keratin::ops
