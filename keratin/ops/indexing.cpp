#include "keratin/ops/indexing.h"

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

int64_t checked_axis(const Node& n) {
  const int64_t axis = n.attr<AxisAttrs>().axis;
  require(axis >= 0 && axis < n.in().rank(), n.name(), ": axis ", axis, " is outside ",
          n.in().shape());
  return axis;
}

void require_indices(std::string_view who, Value indices) {
  require(indices.dtype() == DType::i32 || indices.dtype() == DType::i64, who,
          ": indices must be i32 or i64, got ", indices.type());
}

// The shape of x with the axis replaced by the axes of the indices.
Shape gathered_shape(const Node& n) {
  const int64_t axis = checked_axis(n);
  const Shape &x = n.in(0).shape(), &indices = n.in(1).shape();
  require_indices(n.name(), n.in(1));
  require(x.rank() - 1 + indices.rank() <= static_cast<int64_t>(max_rank), n.name(), ": ", x,
          " at ", indices, " has more than ", max_rank, " axes");
  Dims dims(x.begin(), x.begin() + axis);
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), x.begin() + axis + 1, x.end());
  return Shape(dims);
}

// The shape of the indices, which agrees with that of x except for the axis.
Shape along_shape(const Node& n) {
  const int64_t axis = checked_axis(n);
  Dims expected = n.in(0).shape().dims();
  expected[static_cast<size_t>(axis)] = unknown;
  require_indices(n.name(), n.in(1));
  require(compatible(n.in(1).shape(), Shape(expected)), n.name(), ": indices for ", n.in(0).type(),
          " along axis ", axis, " must have shape ", Shape(expected), ", got ", n.in(1).type());
  // A size may be known on one side only.
  for (size_t i = 0; i < expected.size(); ++i)
    if (expected[i] == unknown) expected[i] = n.in(1).shape()[static_cast<int64_t>(i)];
  return Shape(expected);
}

Types scattered(const Node& n, const Shape& expected) {
  const Value x = n.in(0), updates = n.in(2);
  require(x.dtype() != DType::boolean, n.name(), ": expected numbers, got ", x.type());
  require(updates.dtype() == x.dtype() && compatible(updates.shape(), expected), n.name(),
          ": the updates must be ", x.dtype(), expected, ", got ", updates.type());
  return {x.type()};
}

}  // namespace

// out[a…, j…, b…] = x[a…, indices[j…], b…]
const OpDef gather_op{
    .name = "gather",
    .attrs = attrs_type<AxisAttrs>(),
    .arity = 2,
    .infer = [](const Node& n) -> Types {
      return {{n.in().dtype(), gathered_shape(n)}};
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {scatter_add(zeros_like(n.in()), n.in(1), dy[0], n.attr<AxisAttrs>().axis), Value()};
    },
    .takes_strings = true};

// out = x, then out[a…, indices[j…], b…] += updates[a…, j…, b…]
const OpDef scatter_add_op{
    .name = "scatter_add",
    .attrs = attrs_type<AxisAttrs>(),
    .arity = 3,
    .infer = [](const Node& n) { return scattered(n, gathered_shape(n)); },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {dy[0], Value(), take(dy[0], n.in(1), n.attr<AxisAttrs>().axis)};
    }};

// out[a…, j, b…] = x[a…, indices[a…, j, b…], b…]
const OpDef take_along_axis_op{
    .name = "take_along_axis",
    .attrs = attrs_type<AxisAttrs>(),
    .arity = 2,
    .infer = [](const Node& n) -> Types {
      return {{n.in().dtype(), along_shape(n)}};
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {scatter_add_along_axis(zeros_like(n.in()), n.in(1), dy[0], n.attr<AxisAttrs>().axis),
              Value()};
    },
    .takes_strings = true};

// out = x, then out[a…, indices[a…, j, b…], b…] += updates[a…, j, b…]
const OpDef scatter_add_along_axis_op{
    .name = "scatter_add_along_axis",
    .attrs = attrs_type<AxisAttrs>(),
    .arity = 3,
    .infer = [](const Node& n) { return scattered(n, along_shape(n)); },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {dy[0], Value(), take_along_axis(dy[0], n.in(1), n.attr<AxisAttrs>().axis)};
    }};

Value take(Value x, Value indices, int64_t axis) {
  return emit(gather_op, {x, indices}, AxisAttrs{normalize_axis(axis, x.rank(), "gather")});
}
Value scatter_add(Value x, Value indices, Value updates, int64_t axis) {
  return emit(scatter_add_op, {x, indices, updates},
              AxisAttrs{normalize_axis(axis, x.rank(), "scatter_add")});
}
Value take_along_axis(Value x, Value indices, int64_t axis) {
  return emit(take_along_axis_op, {x, indices},
              AxisAttrs{normalize_axis(axis, x.rank(), "take_along_axis")});
}
Value scatter_add_along_axis(Value x, Value indices, Value updates, int64_t axis) {
  return emit(scatter_add_along_axis_op, {x, indices, updates},
              AxisAttrs{normalize_axis(axis, x.rank(), "scatter_add_along_axis")});
}

Value one_hot(Value indices, int64_t depth, DType dtype, int64_t axis) {
  require_indices("one_hot", indices);
  require(depth >= 0, "one_hot: the depth must not be negative, got ", depth);
  const int64_t at = normalize_axis(axis, indices.rank() + 1, "one_hot");
  Dims dims(static_cast<size_t>(indices.rank() + 1), 1);
  dims[static_cast<size_t>(at)] = depth;
  const Value counted = iota(indices.block(), indices.dtype(), Shape(dims), at);
  return cast(equal(expand_dims(indices, at), counted), dtype);
}

Value embedding(Value table, Value indices) { return take(table, indices, 0); }

int64_t checked_index(const Node& n, int64_t index, int64_t size) {
  require(index >= -size && index < size, n.name(), ": index ", index, " is outside axis ",
          n.attr<AxisAttrs>().axis, " of ", n.in().type(), ", of size ", size);
  return index < 0 ? index + size : index;
}

std::optional<IndexCheck> index_check(const Node& n) {
  for (const OpDef* op :
       {&gather_op, &scatter_add_op, &take_along_axis_op, &scatter_add_along_axis_op})
    if (&n.op() == op) return IndexCheck{n.in(1), n.in().shape()[n.attr<AxisAttrs>().axis]};
  return std::nullopt;
}

}  // namespace keratin::ops
