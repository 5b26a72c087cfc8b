#pragma once

#include <optional>

#include "keratin/base/export.h"
#include "keratin/ir/value.h"

// Ops that read and write at computed positions. Indices are i32 or i64; -n … -1 count from the
// end, as in NumPy, and what is outside [-n, n) is a UserError when the program runs.
namespace keratin::ops {

// out[a…, j…, b…] = x[a…, indices[j…], b…]: NumPy's take. `indices` may have any rank; its axes
// stand where the axis was.
KERATIN_API Value take(Value x, Value indices, int64_t axis);
// x with updates of the shape that gather gives: out[a…, indices[j…], b…] += updates[a…, j…, b…].
// Equal indices add up, in the order in which they come.
KERATIN_API Value scatter_add(Value x, Value indices, Value updates, int64_t axis);

// out[a…, j, b…] = x[a…, indices[a…, j, b…], b…]: indices of the rank of x, equal sizes but for the
// axis.
KERATIN_API Value take_along_axis(Value x, Value indices, int64_t axis);
// out[a…, indices[a…, j, b…], b…] += updates[a…, j, b…]
KERATIN_API Value scatter_add_along_axis(Value x, Value indices, Value updates, int64_t axis);

// 1 where the new axis (of size `depth`) counts the index, else 0; an index outside gives zeros.
KERATIN_API Value one_hot(Value indices, int64_t depth, DType dtype = DType::f32,
                          int64_t axis = -1);

// The rows of a table [n, features…]: out[j…, features…] = table[indices[j…], features…].
KERATIN_API Value embedding(Value table, Value indices);

// For kernels: wraps an index once into [0, size), or throws a UserError with the node's op.
KERATIN_API int64_t checked_index(const Node& n, int64_t index, int64_t size);
// The check that a node of the ops above does when it runs; nothing for other nodes.
struct IndexCheck {
  Value indices;
  int64_t size;
};
KERATIN_API std::optional<IndexCheck> index_check(const Node& n);

}  // namespace keratin::ops
