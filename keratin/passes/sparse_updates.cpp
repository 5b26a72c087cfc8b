#include "keratin/passes/sparse_updates.h"

#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"
#include "keratin/passes/rules.h"

namespace keratin {

namespace {

// scatter_add(0, indices, updates), by slices or along an axis.
bool is_sparse(Value value) {
  const bool scatters = is(value, ops::scatter_add_op) || is(value, ops::scatter_add_along_axis_op);
  return scatters && ops::uniform_value(value.node().in(0)) == 0.0;
}

// Sparse with at most as many updates as the table has elements, so that it pays to work on them.
bool is_thin(Value value) {
  return is_sparse(value) && value.node().in(2).shape().count() <= value.shape().count();
}

Value scatter(Value sparse, Value onto, Value updates) {
  const Node& n = sparse.node();
  return ops::emit(n.op(), {onto, n.in(1), updates}, n.attrs());
}

Value updates_of(Value sparse) { return sparse.node().in(2); }

bool is_number(Value value) { return value.shape().count() == 1; }

// The same sparse table with its updates scaled.
Value scaled(Value sparse, ScalarOp op, Value number) {
  const Value updates = ops::emit(op, {updates_of(sparse), ops::reshape(number, {})});
  return scatter(sparse, sparse.node().in(0), updates);
}

// c · S and S · c
Value sparse_mul(const Node& n) {
  for (size_t i : {0, 1})
    if (is_thin(n.in(i)) && is_number(n.in(1 - i)) && n.in(i).shape() == n.type().shape)
      return scaled(n.in(i), ScalarOp::mul, n.in(1 - i));
  return {};
}

// S / c
Value sparse_div(const Node& n) {
  const bool applies = is_thin(n.in(0)) && is_number(n.in(1)) && n.in(0).shape() == n.type().shape;
  return applies ? scaled(n.in(0), ScalarOp::div, n.in(1)) : Value();
}

// -S
Value sparse_neg(const Node& n) {
  return is_thin(n.in()) ? scatter(n.in(), n.in().node().in(0), -updates_of(n.in())) : Value();
}

// a + S and S + a
Value sparse_add(const Node& n) {
  for (size_t i : {1, 0})
    if (is_sparse(n.in(i)) && n.in(1 - i).shape() == n.type().shape &&
        n.in(i).shape() == n.type().shape)
      return scatter(n.in(i), n.in(1 - i), updates_of(n.in(i)));
  return {};
}

// a - S
Value sparse_sub(const Node& n) {
  const Value a = n.in(0), s = n.in(1);
  const bool applies = is_thin(s) && a.shape() == n.type().shape && s.shape() == n.type().shape;
  return applies ? scatter(s, a, -updates_of(s)) : Value();
}

constexpr RuleFor sparse_rules[] = {
    {ScalarOp::mul, sparse_mul}, {ScalarOp::div, sparse_div}, {ScalarOp::neg, sparse_neg},
    {ScalarOp::add, sparse_add}, {ScalarOp::sub, sparse_sub},
};

}  // namespace

Module sparse_updates(Module module) { return apply_rules(std::move(module), sparse_rules); }

}  // namespace keratin
