#include "keratin/plan/rows.h"

#include "keratin/ops/records.h"
#include "keratin/ops/slicing.h"

namespace keratin {

bool takes_rows(const Node& node) {
  if (&node.op() != &ops::slice_op) return false;
  const Shape &from = node.in().shape(), &to = node.type().shape;
  const Dims& step = node.attr<ops::SliceAttrs>().step;
  bool rows = from.known() && from.rank() > 0;
  for (int64_t axis = 0; rows && axis < from.rank(); ++axis)
    rows = step[static_cast<size_t>(axis)] == 1 && (axis == 0 || from[axis] == to[axis]);
  return rows;
}

size_t first_byte(const Node& node) {
  if (&node.op() != &ops::slice_op) return 0;
  const ops::SliceWindow window =
      ops::slice_window(node.attr<ops::SliceAttrs>(), node.in().shape());
  const Shape& shape = node.type().shape;
  return static_cast<size_t>(window.start[0] * shape.count(1, shape.rank())) *
         size_of(node.type().dtype);
}

}  // namespace keratin
