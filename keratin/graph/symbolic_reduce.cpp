#include "keratin/graph/operation.h"
#include "keratin/graph/symbolic_ops.h"

namespace keratin::ops {

using O = Json::Object;

namespace {

Json number_json(const std::optional<Number>& number) {
  return number ? number->json() : Json(nullptr);
}

}  // namespace

SymbolicTensor sum(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Sum", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor mean(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Mean", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor var(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Var", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor std(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Std", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor logsumexp(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Logsumexp", {x},
                          O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor any(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Any", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor all(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("All", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor amax(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Amax", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor amin(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Amin", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor ptp(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Ptp", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor nanmax(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Nanmax", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor nanmean(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Nanmean", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor nanmin(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Nanmin", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor nanprod(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Nanprod", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor nanstd(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Nanstd", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor nansum(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Nansum", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor nanvar(const Symbols& x, const Axes& axis, bool keepdims) {
  return operation_result("Nanvar", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor prod(const Symbols& x, const Axes& axis, bool keepdims, std::optional<DType> dtype) {
  return operation_result(
      "Prod", {x},
      O{{"axis", config::write(axis)}, {"keepdims", keepdims}, {"dtype", dtype_json(dtype)}});
}
SymbolicTensor max(const Symbols& x, const Axes& axis, bool keepdims,
                   std::optional<Number> initial) {
  return operation_result(
      "Max", {x},
      O{{"axis", config::write(axis)}, {"keepdims", keepdims}, {"initial", number_json(initial)}});
}
SymbolicTensor min(const Symbols& x, const Axes& axis, bool keepdims,
                   std::optional<Number> initial) {
  return operation_result(
      "Min", {x},
      O{{"axis", config::write(axis)}, {"keepdims", keepdims}, {"initial", number_json(initial)}});
}
SymbolicTensor count_nonzero(const Symbols& x, const Axes& axis) {
  return operation_result("CountNonzero", {x}, O{{"axis", config::write(axis)}});
}
SymbolicTensor average(const Symbols& x, const Axes& axis, const Symbols& weights) {
  return operation_result("Average", with_named(x, "weights", weights),
                          O{{"axis", config::write(axis)}});
}
SymbolicTensor norm(const Symbols& x, const Json& ord, const Axes& axis, bool keepdims) {
  return operation_result("Norm", {x},
                          O{{"ord", ord}, {"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor argmax(const Symbols& x, std::optional<int64_t> axis, bool keepdims) {
  return operation_result("Argmax", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor argmin(const Symbols& x, std::optional<int64_t> axis, bool keepdims) {
  return operation_result("Argmin", {x}, O{{"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor cumsum(const Symbols& x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return operation_result("Cumsum", {x},
                          O{{"axis", config::write(axis)}, {"dtype", dtype_json(dtype)}});
}
SymbolicTensor cumprod(const Symbols& x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return operation_result("Cumprod", {x},
                          O{{"axis", config::write(axis)}, {"dtype", dtype_json(dtype)}});
}
SymbolicTensor nancumsum(const Symbols& x, std::optional<int64_t> axis,
                         std::optional<DType> dtype) {
  return operation_result("Nancumsum", {x},
                          O{{"axis", config::write(axis)}, {"dtype", dtype_json(dtype)}});
}
SymbolicTensor nancumprod(const Symbols& x, std::optional<int64_t> axis,
                          std::optional<DType> dtype) {
  return operation_result("Nancumprod", {x},
                          O{{"axis", config::write(axis)}, {"dtype", dtype_json(dtype)}});
}
SymbolicTensor diff(const Symbols& x, int64_t n, int64_t axis) {
  return operation_result("Diff", {x}, O{{"n", n}, {"axis", axis}});
}
SymbolicTensor sort(const Symbols& x, std::optional<int64_t> axis) {
  return operation_result("Sort", {x}, O{{"axis", config::write(axis)}});
}
SymbolicTensor argsort(const Symbols& x, std::optional<int64_t> axis) {
  return operation_result("Argsort", {x}, O{{"axis", config::write(axis)}});
}
Symbols top_k(const Symbols& x, int64_t k, bool sorted) {
  return call_operation("TopK", {{x}, {}}, O{{"k", k}, {"sorted", sorted}});
}
SymbolicTensor in_top_k(const Symbols& targets, const Symbols& predictions, int64_t k) {
  return operation_result("InTopK", {targets, predictions}, O{{"k", k}});
}
SymbolicTensor isin(const Symbols& x1, const Symbols& x2, bool assume_unique, bool invert) {
  return operation_result("IsIn", {x1, x2},
                          O{{"assume_unique", assume_unique}, {"invert", invert}});
}
SymbolicTensor digitize(const Symbols& x, const Symbols& bins) {
  return operation_result("Digitize", {x, bins});
}
SymbolicTensor searchsorted(const Symbols& sorted_sequence, const Symbols& values,
                            const char* side) {
  return operation_result("SearchSorted", {sorted_sequence, values}, O{{"side", side}});
}
SymbolicTensor matmul(const Symbols& x1, const Symbols& x2) {
  return operation_result("Matmul", {x1, x2});
}
SymbolicTensor dot(const Symbols& x1, const Symbols& x2) {
  return operation_result("Dot", {x1, x2});
}
SymbolicTensor inner(const Symbols& x1, const Symbols& x2) {
  return operation_result("Inner", {x1, x2});
}
SymbolicTensor outer(const Symbols& x1, const Symbols& x2) {
  return operation_result("Outer", {x1, x2});
}
SymbolicTensor vdot(const Symbols& x1, const Symbols& x2) {
  return operation_result("Vdot", {x1, x2});
}
SymbolicTensor tensordot(const Symbols& x1, const Symbols& x2, int64_t axes) {
  return operation_result("Tensordot", {x1, x2}, O{{"axes", axes}});
}
SymbolicTensor tensordot(const Symbols& x1, const Symbols& x2, const Dims& axes_of_x1,
                         const Dims& axes_of_x2) {
  return operation_result(
      "Tensordot", {x1, x2},
      O{{"axes", Json::Array{config::write(axes_of_x1), config::write(axes_of_x2)}}});
}
SymbolicTensor einsum(const std::string& subscripts, const std::vector<SymbolicTensor>& operands) {
  return operation_result("Einsum", std::vector<Symbols>(operands.begin(), operands.end()),
                          O{{"subscripts", subscripts}});
}

}  // namespace keratin::ops
