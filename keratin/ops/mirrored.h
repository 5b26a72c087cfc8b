#pragma once

#include "keratin/ir/node.h"

// A mirrored value has a copy on each of several devices. An op with a mirrored input is emitted
// once per copy, on the copy's device, and its result is mirrored too: nothing is transferred. A
// user of the value on one device takes the copy there (whole_on, shards.h).
namespace keratin::ops {

// From copies with the same elements on different devices. A gradient goes to the first copy.
Value mirrored(const Values& copies);
bool is_mirrored(Value value);
// The copy on a device; the first copy if the device has none.
Value nearest_copy(Value mirrored, Device device);

// The result of an op with a mirrored input, emitted once per copy.
Value emit_mirrored(const OpDef& op, const Values& inputs, const Attrs& attrs);

}  // namespace keratin::ops
