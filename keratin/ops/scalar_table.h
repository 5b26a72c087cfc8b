#pragma once

#include <array>
#include <string_view>

#include "keratin/ops/scalar.h"
#include "keratin/tensor/dtype.h"
#include "keratin/tensor/elements.h"

namespace keratin {

// Properties of an op, derived from its row and functor in scalar.h.
struct ScalarDef {
  std::string_view name;
  int operands = 0;
  bool gives_boolean = false;  // for operands of any dtype; else the result has their dtype
  bool commutative = false, transcendental = false;
  uint32_t dtypes = 0;        // what it takes: bit i is DType i
  std::string_view expected;  // the same, as messages call it
};

namespace detail {

template <class F>
constexpr int operand_count_of() {
  if (std::is_invocable_v<F>) return 0;
  if (std::is_invocable_v<F, float>) return 1;
  return std::is_invocable_v<F, float, float> ? 2 : 3;
}

template <class F>
constexpr bool gives_boolean() {
  if constexpr (std::is_invocable_v<F, float>)
    return std::is_same_v<std::invoke_result_t<F, float>, bool>;
  else if constexpr (std::is_invocable_v<F, float, float>)
    return std::is_same_v<std::invoke_result_t<F, float, float>, bool>;
  else
    return false;
}

template <class F, class... T>
constexpr uint32_t dtypes_of(TypeTag<T>...) {
  return (
      (static_cast<uint32_t>(F::template takes<compute_t<T>>) << static_cast<int>(dtype_of<T>())) |
      ...);
}
template <class F>
constexpr uint32_t dtypes_of() {
  return dtypes_of<F>(TypeTag<double>(), TypeTag<float>(), TypeTag<Half>(), TypeTag<BFloat16>(),
                      TypeTag<int8_t>(), TypeTag<uint8_t>(), TypeTag<int32_t>(), TypeTag<int64_t>(),
                      TypeTag<bool>());
}

constexpr std::array<ScalarDef, scalar_op_count> make_scalar_defs() {
  std::array<ScalarDef, scalar_op_count> defs;
  scalar::for_each_row(scalar::rows, [&](const auto& row) {
    using Functor = typename std::decay_t<decltype(row)>::Functor;
    defs[static_cast<size_t>(row.op)] = {
        .name = row.name,
        .operands = operand_count_of<Functor>(),
        .gives_boolean = gives_boolean<Functor>(),
        .commutative = row.trait == scalar::Trait::commutative,
        .transcendental = row.trait == scalar::Trait::transcendental,
        .dtypes = dtypes_of<Functor>(),
        .expected = Functor::expected,
    };
  });
  return defs;
}

inline constexpr std::array<ScalarDef, scalar_op_count> scalar_defs = make_scalar_defs();

// Every enumerator has its own row.
constexpr bool has_all_rows() {
  int next = 0;
  bool in_order = true;
  scalar::for_each_row(scalar::rows, [&](const auto& row) {
    in_order = in_order && static_cast<int>(row.op) == next++;
  });
  return in_order && next == scalar_op_count;
}
static_assert(has_all_rows());

}  // namespace detail

constexpr const ScalarDef& scalar_def(ScalarOp op) {
  return detail::scalar_defs[static_cast<size_t>(op)];
}

constexpr std::string_view name(ScalarOp op) { return scalar_def(op).name; }
constexpr int operand_count(ScalarOp op) { return scalar_def(op).operands; }
constexpr bool is_comparison(ScalarOp op) {
  return scalar_def(op).gives_boolean && operand_count(op) == 2;
}
constexpr bool takes(ScalarOp op, DType dtype) {
  return (scalar_def(op).dtypes >> static_cast<int>(dtype) & 1) != 0;
}

}  // namespace keratin
