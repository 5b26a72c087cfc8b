#pragma once

#include <functional>

#include "keratin/ir/node.h"

// A tensor in parts is a concat of values on several devices. An op that is given one is written
// once for each part, on the device where that is, wherever the parts of the result follow from
// those of the inputs:
//   matmul(x, [w0 | w1])  becomes  [matmul(x, w0) | matmul(x, w1)]
// and the result is in parts again, or a sum. Any other op gets the whole, put together first.
// This happens as nodes are emitted, so that gradients follow the same parts.
namespace keratin::ops {

bool in_parts(Value value);
// In parts, or mirrored.
bool on_several_devices(Value value);
// Any value on a device, as one piece. Constants stay: they are made wherever they are needed.
Value whole_on(Value value, Device device);

// What lies between two edges along an axis, on a device; a part that is there stays as it is. A
// device that shares the value's memory takes it itself.
Value part_of(Value value, int64_t axis, int64_t begin, int64_t end, Device device);

// f(part, the same of `beside`) for each part, where it is; their results are in parts again. Cut
// is an axis that both have, and the results too.
Value by_parts(Value value, Value beside, const std::function<Value(Value, Value)>& f);
int64_t cut_axis_of(Value in_parts);

// What the op gives, made of parts, or of mirrors; undefined if it cannot be, or has several
// outputs.
Value on_parts(const OpDef& op, const Values& inputs, const Attrs& attrs);

}  // namespace keratin::ops
