#pragma once

#include "keratin/ir/node.h"

// One value that several devices have. An op that is given one is written for each of the devices,
// and what it gives is mirrored again: nothing is sent. Whoever needs it in one place takes the
// copy that is there (whole_on, parts.h).
namespace keratin::ops {

// The copies, equal and on devices of their own. A gradient goes to the first.
Value mirrored(const Values& copies);
bool is_mirrored(Value value);
// The copy on a device; the first one where that has none.
Value nearest_copy(Value mirrored, Device device);

// What the op gives, on each device that has all of a mirrored input.
Value on_mirrors(const OpDef& op, const Values& inputs, const Attrs& attrs);

}  // namespace keratin::ops
