#include "keratin/passes/canonicalize.h"

#include <algorithm>

#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"
#include "keratin/passes/rules.h"

namespace keratin {

namespace {

bool is_constant(Value value) {
  return is(value, ops::constant_op) || ops::uniform_value(value).has_value();
}

Value constants_right(const Node& n) {
  if (!n.op().commutative || n.input_count() != 2) return {};
  if (!is_constant(n.in(0)) || is_constant(n.in(1))) return {};
  return ops::emit(n.op(), {n.in(1), n.in(0)}, n.attrs());
}

Value reshape(const Node& n) {
  const Shape& shape = n.type().shape;
  if (is(n.in(), ops::reshape_op)) return ops::reshape(n.in().node().in(), shape.dims());
  if (n.in().shape() == shape) return n.in();
  return n.attr<ops::ReshapeAttrs>().shape == shape.dims() ? Value()
                                                           : ops::reshape(n.in(), shape.dims());
}

Value as_reshape(const Node& n) { return ops::reshape(n.in(), n.type().shape.dims()); }

Value broadcast_to(const Node& n) {
  const Shape& shape = n.type().shape;
  if (is(n.in(), ops::broadcast_to_op)) return ops::broadcast_to(n.in().node().in(), shape.dims());
  if (n.in().shape() == shape) return n.in();
  return n.attr<ops::BroadcastAttrs>().shape == shape.dims()
             ? Value()
             : ops::broadcast_to(n.in(), shape.dims());
}

// out[i] = y[p[i]], y[j] = x[q[j]]: out[i] = x[q[p[i]]].
Value transpose(const Node& n) {
  const Dims& outer = n.attr<ops::TransposeAttrs>().permutation;
  if (is(n.in(), ops::transpose_op)) {
    const Dims& inner = n.in().node().attr<ops::TransposeAttrs>().permutation;
    Dims both;
    for (int64_t axis : outer) both.push_back(inner[static_cast<size_t>(axis)]);
    return ops::transpose(n.in().node().in(), both);
  }
  return std::is_sorted(outer.begin(), outer.end()) ? n.in() : Value();
}

// True if `to` can represent every number of `from`.
bool holds_all(DType to, DType from) {
  if (from == to || from == DType::boolean) return true;
  switch (to) {
    case DType::f64:
      return from != DType::i64;
    case DType::f32:
      return from == DType::f16 || from == DType::bf16 || from == DType::i8 || from == DType::u8;
    case DType::f16:
    case DType::bf16:
    case DType::i32:
      return from == DType::i8 || from == DType::u8;
    case DType::i64:
      return is_integer(from);
    default:
      return false;
  }
}

Value cast(const Node& n) {
  if (n.in().dtype() == n.type().dtype) return n.in();
  if (!is(n.in(), ScalarOp::cast)) return {};
  const Value x = n.in().node().in();
  if (!holds_all(n.in().dtype(), x.dtype())) return {};
  // Casts of integers wrap and casts of floats saturate, so an integer that was cast to a float
  // must not be narrowed directly.
  const bool other_rule = is_integer(x.dtype()) && is_float(n.in().dtype());
  if (other_rule && is_integer(n.type().dtype) && !holds_all(n.type().dtype, x.dtype())) return {};
  return ops::cast(x, n.type().dtype);
}

Value input(const Node& n) { return n.in(); }

constexpr RuleFor canonical_rules[] = {
    {nullptr, constants_right},
    {&ops::reshape_op, reshape},
    {&ops::expand_dims_op, as_reshape},
    {&ops::squeeze_op, as_reshape},
    {&ops::broadcast_to_op, broadcast_to},
    {&ops::transpose_op, transpose},
    {ScalarOp::cast, cast},
    {&ops::stop_gradient_op, input},
};

}  // namespace

Module canonicalize(Module module) { return apply_rules(std::move(module), canonical_rules); }

}  // namespace keratin
