#include "keratin/ops/softmax.h"

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

Dims axis_of(const Node& n) { return {n.attr<AxisAttrs>().axis}; }

Types infer_softmax(const Node& n) {
  const int64_t axis = n.attr<AxisAttrs>().axis;
  for (size_t i = 0; i < n.input_count(); ++i)
    require(is_float(n.in(i).dtype()) && n.in(i).dtype() == n.in().dtype() &&
                compatible(n.in(i).shape(), n.in().shape()),
            n.name(), ": expected floats of one type, got ", n.in().type(), " and ",
            n.in(i).type());
  require(axis >= 0 && axis < n.in().rank(), n.name(), ": axis ", axis, " is outside ",
          n.in().shape());
  require(n.in().shape()[axis] != 0, n.name(), ": an axis of size 0 has no ", n.name(), ", got ",
          n.in().type());
  return {n.in().type()};
}

// Several axes of known sizes become one: they are moved to the end, merged, and put back.
template <class F>
Value over_merged(Value x, const Dims& list, F f) {
  Dims order;
  int64_t size = 1;
  for (int64_t axis = 0, next = 0; axis < x.rank(); ++axis) {
    if (next < static_cast<int64_t>(list.size()) && list[static_cast<size_t>(next)] == axis) {
      size *= x.shape()[axis];
      ++next;
    } else {
      order.push_back(axis);
    }
  }
  Dims merged;
  for (int64_t axis : order) merged.push_back(x.shape()[axis]);
  merged.push_back(size);
  order.insert(order.end(), list.begin(), list.end());
  Dims back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const Value moved = transpose(x, order);
  return transpose(reshape(f(reshape(moved, merged), -1), moved.shape().dims()), back);
}

// x minus its maximum along the axes, for sizes that are not known yet.
Value shifted(Value x, const Dims& axes) { return x - stop_gradient(max(x, axes, true)); }

}  // namespace

// y = exp(x - max x) / Σ exp(x - max x)
const OpDef softmax_op{
    .name = "softmax",
    .attrs = attrs_type<AxisAttrs>(),
    .arity = 1,
    .infer = infer_softmax,
    .decompose = [](const Node& n) -> Values {
      const Value e = exp(n.in() - max(n.in(), axis_of(n), true));
      return {e / sum(e, axis_of(n), true)};
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {emit(softmax_grad_op, {n.out(), dy[0]}, n.attrs())};
    },
};

// dx = y · (dy - Σ dy · y), given y and dy
const OpDef softmax_grad_op{
    .name = "softmax_grad",
    .attrs = attrs_type<AxisAttrs>(),
    .arity = 2,
    .infer = infer_softmax,
    .decompose = [](const Node& n) -> Values {
      const Value y = n.in(0), dy = n.in(1);
      return {y * (dy - sum(dy * y, axis_of(n), true))};
    },
};

// y = x - max x - log Σ exp(x - max x)
const OpDef log_softmax_op{
    .name = "log_softmax",
    .attrs = attrs_type<AxisAttrs>(),
    .arity = 1,
    .infer = infer_softmax,
    .decompose = [](const Node& n) -> Values {
      const Value shifted = n.in() - max(n.in(), axis_of(n), true);
      return {shifted - log(sum(exp(shifted), axis_of(n), true))};
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {emit(log_softmax_grad_op, {n.out(), dy[0]}, n.attrs())};
    },
};

// dx = dy - exp(y) · Σ dy, given y and dy
const OpDef log_softmax_grad_op{
    .name = "log_softmax_grad",
    .attrs = attrs_type<AxisAttrs>(),
    .arity = 2,
    .infer = infer_softmax,
    .decompose = [](const Node& n) -> Values {
      const Value y = n.in(0), dy = n.in(1);
      return {dy - exp(y) * sum(dy, axis_of(n), true)};
    },
};

Value softmax(Value x, int64_t axis) {
  return emit(softmax_op, {x}, AxisAttrs{normalize_axis(axis, x.rank(), "softmax")});
}

Value log_softmax(Value x, int64_t axis) {
  return emit(log_softmax_op, {x}, AxisAttrs{normalize_axis(axis, x.rank(), "log_softmax")});
}

Value softmax(Value x, const Dims& axes) {
  const Dims list = normalize_axes(axes, x.rank(), "softmax");
  const auto along = [](Value v, int64_t axis) { return softmax(v, axis); };
  if (list.size() == 1) return along(x, list[0]);
  if (x.shape().known()) return over_merged(x, list, along);
  const Value e = exp(shifted(x, list));
  return e / sum(e, list, true);
}

Value log_softmax(Value x, const Dims& axes) {
  const Dims list = normalize_axes(axes, x.rank(), "log_softmax");
  const auto along = [](Value v, int64_t axis) { return log_softmax(v, axis); };
  if (list.size() == 1) return along(x, list[0]);
  if (x.shape().known()) return over_merged(x, list, along);
  const Value difference = shifted(x, list);
  return difference - log(sum(exp(difference), list, true));
}

}  // namespace keratin::ops
