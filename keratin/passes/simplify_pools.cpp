#include <algorithm>

#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/pool.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/scalar.h"
#include "keratin/passes/simplify_rules.h"

namespace keratin {

namespace {

// The max_pool whose positions a max_unpool uses; nullptr if their windows differ.
const Node* pool_of(const Node& unpool) {
  const Value where = unpool.in(1);
  if (!is(where, ops::max_pool_op) || where.index() != 1) return nullptr;
  const auto &back = unpool.attr<ops::PoolAttrs>(), &there = where.node().attr<ops::PoolAttrs>();
  const bool same = back.window == there.window && back.strides == there.strides &&
                    back.padding == there.padding &&
                    where.node().in().shape() == unpool.type().shape;
  return same ? &where.node() : nullptr;
}

// select(f(x), unpool(dy), 0) = unpool(select(f(pool(x)), dy, 0)), for comparisons f with a number:
// the gradient of a window goes to an x that equals its maximum. So relu's gradient is computed on
// the fewer pooled numbers, and x itself need not be kept.
Value select_after_unpool(const Node& n) {
  const Value condition = n.in(0), back = n.in(1);
  if (!is(back, ops::max_unpool_op) || ops::uniform_value(n.in(2)) != 0.0) return {};
  const Node* pool = pool_of(back.node());
  const Node& compare = condition.node();
  if (pool == nullptr || !compare.op().scalar || compare.input_count() != 2) return {};
  if (compare.in(0) != pool->in() || !ops::uniform_value(compare.in(1))) return {};
  if (back.shape() != n.type().shape || n.in(2).shape().count() != 1) return {};
  if (compare.in(1).shape().count() != 1) return {};
  const Value chosen = ops::emit(compare.op(), {pool->out(0), compare.in(1)}, compare.attrs());
  return ops::max_unpool(ops::where(chosen, back.node().in(0), n.in(2)), back.node().in(1),
                         back.node().attr<ops::PoolAttrs>());
}

// The sum over all of space is that of the pooled gradients: the other elements are zeros.
Value sum_of_unpool(const Node& n) {
  if (!is(n.in(), ops::max_unpool_op) || pool_of(n.in().node()) == nullptr) return {};
  const auto& attrs = n.attr<ops::ReduceAttrs>();
  for (int64_t axis = 1; axis + 1 < n.in().rank(); ++axis)
    if (std::find(attrs.axes.begin(), attrs.axes.end(), axis) == attrs.axes.end()) return {};
  return ops::emit(ops::sum_op, {n.in().node().in(0)}, attrs);
}

constexpr RuleFor pool_table[] = {
    {ScalarOp::select, select_after_unpool},
    {&ops::sum_op, sum_of_unpool},
};

}  // namespace

std::span<const RuleFor> pool_rules() { return pool_table; }

}  // namespace keratin
