#pragma once

#include <functional>

#include "keratin/ir/node.h"

// A sharded tensor is a concat of shards, which are on several devices. An op with a sharded input
// is emitted once per shard, on the shard's device, wherever the shards of the result can be
// computed from those of the inputs:
//   matmul(x, [w0 | w1])  becomes  [matmul(x, w0) | matmul(x, w1)]
// and the result is sharded too, or a sum over the shards. Any other op gets its input gathered on
// one device. This happens as nodes are emitted, so that gradients are sharded the same way.
namespace keratin::ops {

bool is_sharded(Value value);
// Sharded or mirrored.
bool is_distributed(Value value);
// The whole of any value on a device: shards are gathered, of mirrored copies the nearest is used,
// other values are transferred. Constants are not: they are created where they are needed.
Value whole_on(Value value, Device device);

// The elements from `begin` to `end` along an axis, on a device. If they are a shard on that
// device, returns that shard. A CPU reads them from the memory of another CPU directly.
Value slice_on(Value value, int64_t axis, int64_t begin, int64_t end, Device device);

// Calls f(shard, slice) for each shard of a value and the same elements of `other`, on the shard's
// device; the values it returns are the shards of the result. `other` and the results have the
// sharded axis, too.
Value map_shards(Value sharded, Value other, const std::function<Value(Value, Value)>& f);
int64_t sharded_axis(Value sharded);

// The result of an op with distributed inputs, emitted once per shard or mirrored copy. Undefined
// if the op cannot be sharded that way, or has several outputs.
Value emit_distributed(const OpDef& op, const Values& inputs, const Attrs& attrs);

}  // namespace keratin::ops
