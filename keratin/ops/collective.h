#pragma once

#include "keratin/ir/node.h"

namespace keratin::ops {

// How values on several devices become one: the one place to plug in a library that does it faster.
// Each function writes what it takes into the program of its values.
class Collective {
 public:
  virtual ~Collective() = default;
  // What a later sum on a device will be given for a part, which is there now: it may leave at
  // once.
  virtual Value send(Value part, Device to) const = 0;
  // Σ parts on a device.
  virtual Value reduce(const Values& parts, Device to) const = 0;
  // The same on the device of each part.
  virtual Values all_reduce(const Values& parts) const = 0;
  // The same of several at once, which are on the same devices: a bucket of gradients.
  virtual std::vector<Values> all_reduce(const std::vector<Values>& bucket) const = 0;
  // How much a bucket should hold: enough that what a message costs does not count.
  virtual int64_t bucket_bytes() const { return int64_t{1} << 20; }
  // The parts side by side along an axis, on a device.
  virtual Value gather(const Values& parts, int64_t axis, Device to) const = 0;
};

// Transfers and additions in the order of the parts, so that all bits are reproducible.
const Collective& in_process_collective();

// The one that is used; the above unless told otherwise. To be set before programs are written.
const Collective& collective();
void set_collective(const Collective& collective);

}  // namespace keratin::ops
