#include "keratin/ops/cumulative.h"

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/slicing.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

Types infer_cumulative(const Node& n) {
  const int64_t axis = n.attr<CumulativeAttrs>().axis;
  require(axis >= 0 && axis < n.in().rank(), n.name(), ": axis ", axis, " is outside ",
          n.in().shape());
  require(n.in().dtype() != DType::boolean, n.name(), ": expected numbers, got ", n.in().type());
  return {n.in().type()};
}

// x shifted along the axis in the direction of the scan, filled with `neutral`.
Value shifted(Value x, const CumulativeAttrs& attrs, int64_t by, double neutral) {
  const int64_t size = x.shape()[attrs.axis];
  PadAttrs pad_by{.lo = Dims(static_cast<size_t>(x.rank()), 0), .value = neutral};
  pad_by.lo[static_cast<size_t>(attrs.axis)] = by;
  if (attrs.reverse) std::swap(pad_by.lo, pad_by.hi);
  const Value rest =
      attrs.reverse ? slice_axis(x, attrs.axis, by, size) : slice_axis(x, attrs.axis, 0, size - by);
  return pad(rest, pad_by);
}

// After the step with distance d every element covers the 2d before it: log2(n) steps. No step
// divides, so its gradient is exact whatever the elements are.
Value doubling(const Node& n, Value (*combine)(Value, Value), double neutral) {
  const auto& attrs = n.attr<CumulativeAttrs>();
  const int64_t size = n.in().shape()[attrs.axis];
  Value total = n.in();
  if (attrs.exclusive && size > 0) total = shifted(total, attrs, 1, neutral);
  for (int64_t distance = 1; distance < size; distance *= 2)
    total = combine(total, shifted(total, attrs, distance, neutral));
  return total;
}

Value emit_cumulative(const OpDef& op, Value x, CumulativeAttrs attrs) {
  attrs.axis = normalize_axis(attrs.axis, x.rank(), op.name);
  return emit(op, {x}, attrs);
}

}  // namespace

// Σ_{j ≤ k} x[j]; the gradient is the sum from the other end
const OpDef cumsum_op{.name = "cumsum",
                      .attrs = attrs_type<CumulativeAttrs>(),
                      .arity = 1,
                      .infer = infer_cumulative,
                      .decompose = [](const Node& n) -> Values { return {doubling(n, add, 0)}; },
                      .grad = [](const Node& n, const Values& dy) -> Values {
                        CumulativeAttrs attrs = n.attr<CumulativeAttrs>();
                        attrs.reverse = !attrs.reverse;
                        return {cumsum(dy[0], attrs)};
                      }};

// Π_{j ≤ k} x[j]
const OpDef cumprod_op{
    .name = "cumprod",
    .attrs = attrs_type<CumulativeAttrs>(),
    .arity = 1,
    .infer = infer_cumulative,
    .decompose = [](const Node& n) -> Values { return {doubling(n, multiply, 1)}; }};

Value cumsum(Value x, CumulativeAttrs attrs) { return emit_cumulative(cumsum_op, x, attrs); }
Value cumprod(Value x, CumulativeAttrs attrs) { return emit_cumulative(cumprod_op, x, attrs); }

}  // namespace keratin::ops
