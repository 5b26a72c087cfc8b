#include "keratin/ops/reduce.h"

#include <algorithm>
#include <functional>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

bool contains(const Dims& axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

Shape reduced_shape(const Node& n, const Dims& axes, bool keepdims) {
  const Shape& input = n.in().shape();
  require(std::adjacent_find(axes.begin(), axes.end(), std::greater_equal()) == axes.end(),
          n.name(), ": the axes must be listed in order, each once");
  for (int64_t axis : axes)
    require(axis >= 0 && axis < input.rank(), n.name(), ": axis ", axis, " is outside ", input);
  Dims dims;
  for (int64_t axis = 0; axis < input.rank(); ++axis) {
    if (!contains(axes, axis)) {
      dims.push_back(input[axis]);
    } else if (keepdims) {
      dims.push_back(1);
    }
  }
  return Shape(dims);
}

Types infer_reduce(const Node& n) {
  const auto& attrs = n.attr<ReduceAttrs>();
  return {{n.in().dtype(), reduced_shape(n, attrs.axes, attrs.keepdims)}};
}

Types infer_sum(const Node& n) {
  require(n.in().dtype() != DType::boolean, n.name(), ": expected numbers, got ", n.in().type());
  return infer_reduce(n);
}

void require_elements(const Node& n, const Dims& axes) {
  for (int64_t axis : axes)
    require(n.in().shape()[axis] != 0, n.name(), ": an axis of size 0 has no ", n.name(), ", got ",
            n.in().type());
}

Types infer_extremum(const Node& n) {
  Types types = infer_sum(n);
  require_elements(n, n.attr<ReduceAttrs>().axes);
  return types;
}

Types infer_mean(const Node& n) {
  require(is_float(n.in().dtype()), n.name(), ": expected a float tensor, got ", n.in().type());
  return infer_reduce(n);
}

Types infer_logic(const Node& n) {
  require(n.in().dtype() == DType::boolean, n.name(), ": expected bool, got ", n.in().type());
  return infer_reduce(n);
}

Types infer_arg(const Node& n) {
  const auto& attrs = n.attr<ArgAttrs>();
  require(n.in().dtype() != DType::boolean, n.name(), ": expected numbers, got ", n.in().type());
  const Shape shape = reduced_shape(n, {attrs.axis}, attrs.keepdims);
  require_elements(n, {attrs.axis});
  return {{DType::i64, shape}};
}

// dy or y, shaped to broadcast against the input.
Value restored(const Node& n, Value reduced) {
  return restore_axes(reduced, n.in().shape(), n.attr<ReduceAttrs>().axes);
}

double reduced_count(const Node& n) {
  double count = 1;
  for (int64_t axis : n.attr<ReduceAttrs>().axes)
    count *= static_cast<double>(n.in().shape()[axis]);
  return count;
}

// Along the axes of node n; if it lists none, along none, while the public functions mean all.
Value reduce_like(const Node& n, const OpDef& op, Value x, bool keepdims) {
  return emit(op, {x}, ReduceAttrs{n.attr<ReduceAttrs>().axes, keepdims});
}

// The input of a mean. The sum of halves may be larger than any half, so means add up and divide in
// the arithmetic of statistics and round once.
Value summand(const Node& n) { return cast(n.in(), statistics_dtype(n.in().dtype())); }

// The elements that equal the extremum share the gradient.
Values max_min_grad(const Node& n, const Values& dy) {
  const Value hit = cast(equal(n.in(), restored(n, n.out())), n.in().dtype());
  return {hit * (restored(n, dy[0]) / reduce_like(n, sum_op, hit, true))};
}

Value emit_reduce(const OpDef& op, Value x, const Dims& axes, bool keepdims) {
  return emit(op, {x}, ReduceAttrs{normalize_axes(axes, x.rank(), op.name), keepdims});
}

}  // namespace

Value restore_axes(Value reduced, const Shape& input, const Dims& axes) {
  Dims dims = input.dims();
  for (int64_t axis : axes) dims[static_cast<size_t>(axis)] = 1;
  return reshape(reduced, dims);
}

// Σ x
const OpDef sum_op{.name = "sum",
                   .attrs = attrs_type<ReduceAttrs>(),
                   .arity = 1,
                   .infer = infer_sum,
                   .grad = [](const Node& n, const Values& dy) -> Values {
                     return {broadcast_to(restored(n, dy[0]), n.in().shape().dims())};
                   }};
// max x
const OpDef max_op{.name = "max",
                   .attrs = attrs_type<ReduceAttrs>(),
                   .arity = 1,
                   .infer = infer_extremum,
                   .grad = max_min_grad};
// min x
const OpDef min_op{.name = "min",
                   .attrs = attrs_type<ReduceAttrs>(),
                   .arity = 1,
                   .infer = infer_extremum,
                   .grad = max_min_grad};
// Π x. The gradient is the product of the others: y / x, but where there are zeros the one zero
// gets the product of the others, and with two zeros all gradients are zero.
const OpDef prod_op{.name = "prod",
                    .attrs = attrs_type<ReduceAttrs>(),
                    .arity = 1,
                    .infer = infer_sum,
                    .grad = [](const Node& n, const Values& dy) -> Values {
                      const Value x = n.in();
                      const Value zero = scalar_like(x, 0), one = scalar_like(x, 1);
                      const Value is_zero = equal(x, zero);
                      const Value without_zeros = where(is_zero, one, x);
                      const Value zeros = reduce_like(n, sum_op, cast(is_zero, x.dtype()), true);
                      const Value rest = reduce_like(n, prod_op, without_zeros, true);
                      const Value others =
                          where(is_zero, where(equal(zeros, one), rest, zero),
                                where(equal(zeros, zero), rest / without_zeros, zero));
                      return {restored(n, dy[0]) * others};
                    }};
const OpDef any_op{.name = "any",
                   .attrs = attrs_type<ReduceAttrs>(),
                   .arity = 1,
                   .infer = infer_logic,
                   .grad = no_gradient};
const OpDef all_op{.name = "all",
                   .attrs = attrs_type<ReduceAttrs>(),
                   .arity = 1,
                   .infer = infer_logic,
                   .grad = no_gradient};
const OpDef argmax_op{.name = "argmax",
                      .attrs = attrs_type<ArgAttrs>(),
                      .arity = 1,
                      .infer = infer_arg,
                      .grad = no_gradient};
const OpDef argmin_op{.name = "argmin",
                      .attrs = attrs_type<ArgAttrs>(),
                      .arity = 1,
                      .infer = infer_arg,
                      .grad = no_gradient};
// Σ x / count
const OpDef mean_op{.name = "mean",
                    .attrs = attrs_type<ReduceAttrs>(),
                    .arity = 1,
                    .infer = infer_mean,
                    .decompose = [](const Node& n) -> Values {
                      const bool keepdims = n.attr<ReduceAttrs>().keepdims;
                      const Value total = reduce_like(n, sum_op, summand(n), keepdims);
                      return {cast(total / reduced_count(n), n.type().dtype)};
                    }};
// Σ (x - mean)² / count
const OpDef variance_op{.name = "variance",
                        .attrs = attrs_type<ReduceAttrs>(),
                        .arity = 1,
                        .infer = infer_mean,
                        .decompose = [](const Node& n) -> Values {
                          const bool keepdims = n.attr<ReduceAttrs>().keepdims;
                          const Value x = summand(n);
                          const Value centred =
                              x - reduce_like(n, sum_op, x, true) / reduced_count(n);
                          const Value total = reduce_like(n, sum_op, square(centred), keepdims);
                          return {cast(total / reduced_count(n), n.type().dtype)};
                        }};
// m + log Σ exp(x - m) with m = max x, or 0 where that is infinite
const OpDef logsumexp_op{.name = "logsumexp",
                         .attrs = attrs_type<ReduceAttrs>(),
                         .arity = 1,
                         .infer =
                             [](const Node& n) {
                               Types types = infer_mean(n);
                               require_elements(n, n.attr<ReduceAttrs>().axes);
                               return types;
                             },
                         .decompose = [](const Node& n) -> Values {
                           Value peak = stop_gradient(reduce_like(n, max_op, n.in(), true));
                           peak = where(isfinite(peak), peak, scalar_like(peak, 0));
                           const Value total =
                               log(reduce_like(n, sum_op, exp(n.in() - peak), true)) + peak;
                           return {reshape(total, n.type().shape.dims())};
                         }};

Value sum(Value x, const Dims& axes, bool keepdims) {
  return emit_reduce(sum_op, x, axes, keepdims);
}
Value max(Value x, const Dims& axes, bool keepdims) {
  return emit_reduce(max_op, x, axes, keepdims);
}
Value min(Value x, const Dims& axes, bool keepdims) {
  return emit_reduce(min_op, x, axes, keepdims);
}
Value prod(Value x, const Dims& axes, bool keepdims) {
  return emit_reduce(prod_op, x, axes, keepdims);
}
Value any(Value x, const Dims& axes, bool keepdims) {
  return emit_reduce(any_op, x, axes, keepdims);
}
Value all(Value x, const Dims& axes, bool keepdims) {
  return emit_reduce(all_op, x, axes, keepdims);
}
Value mean(Value x, const Dims& axes, bool keepdims) {
  return emit_reduce(mean_op, x, axes, keepdims);
}
Value var(Value x, const Dims& axes, bool keepdims) {
  return emit_reduce(variance_op, x, axes, keepdims);
}
Value logsumexp(Value x, const Dims& axes, bool keepdims) {
  return emit_reduce(logsumexp_op, x, axes, keepdims);
}
Value argmax(Value x, int64_t axis, bool keepdims) {
  return emit(argmax_op, {x}, ArgAttrs{normalize_axis(axis, x.rank(), "argmax"), keepdims});
}
Value argmin(Value x, int64_t axis, bool keepdims) {
  return emit(argmin_op, {x}, ArgAttrs{normalize_axis(axis, x.rank(), "argmin"), keepdims});
}

}  // namespace keratin::ops
