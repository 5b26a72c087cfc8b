#include <algorithm>

#include "keratin/ops/constant.h"
#include "keratin/ops/norm.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/scalar.h"
#include "keratin/passes/simplify_rules.h"

namespace keratin {

namespace {

// The gradient of a batch normalisation's input sums to zero in each channel, since adding a number
// to a channel does not change the result. So the gradient of a bias in front of it is zero.
Value sum_of_batch_norm_grad(const Node& n) {
  const Value x =
      is(n.in(), ScalarOp::cast) && is_float(n.type().dtype) ? n.in().node().in() : n.in();
  if (!is(x, ops::batch_norm_grad_op) || x.index() != 0) return {};
  const Dims& axes = n.attr<ops::ReduceAttrs>().axes;
  const int64_t channels = x.node().attr<ops::BatchNormAttrs>().axis;
  for (int64_t axis = 0; axis < n.in().rank(); ++axis)
    if (axis != channels && std::find(axes.begin(), axes.end(), axis) == axes.end()) return {};
  return ops::zeros_like(n.out());
}

constexpr RuleFor norm_table[] = {{&ops::sum_op, sum_of_batch_norm_grad}};

}  // namespace

std::span<const RuleFor> norm_rules() { return norm_table; }

}  // namespace keratin
