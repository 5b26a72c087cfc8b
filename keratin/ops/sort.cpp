#include "keratin/ops/sort.h"

#include <limits>

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/ops/slicing.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

// Indices are i32.
constexpr int64_t max_k = std::numeric_limits<int32_t>::max();

Types infer_sort(const Node& n, DType result) {
  const int64_t axis = n.attr<SortAttrs>().axis;
  require(axis >= 0 && axis < n.in().rank(), n.name(), ": axis ", axis, " is outside ",
          n.in().shape());
  return {{result, n.in().shape()}};
}

Types infer_top_k(const Node& n) {
  const int64_t k = n.attr<TopKAttrs>().k;
  const Shape& shape = n.in().shape();
  require(shape.rank() > 0, "top_k: expected rank 1 or more, got ", n.in().type());
  const int64_t most = shape.back() == unknown ? max_k : shape.back();
  require(k >= 0 && k <= most, "top_k: k must be in [0, ", most, "] for ", n.in().type(), ", got ",
          k);
  Dims dims = shape.dims();
  dims.back() = k;
  return {{n.in().dtype(), Shape(dims)}, {DType::i32, Shape(dims)}};
}

SortAttrs normalized(SortAttrs attrs, Value x, std::string_view who) {
  return {normalize_axis(attrs.axis, x.rank(), who), attrs.descending};
}

}  // namespace

// the positions i with x[i_0] ≤ x[i_1] ≤ …
const OpDef argsort_op{.name = "argsort",
                       .attrs = attrs_type<SortAttrs>(),
                       .arity = 1,
                       .infer = [](const Node& n) { return infer_sort(n, DType::i64); },
                       .grad = no_gradient};

// x[argsort(x)]
const OpDef sort_op{.name = "sort",
                    .attrs = attrs_type<SortAttrs>(),
                    .arity = 1,
                    .infer = [](const Node& n) { return infer_sort(n, n.in().dtype()); },
                    .decompose = [](const Node& n) -> Values {
                      const auto& attrs = n.attr<SortAttrs>();
                      return {take_along_axis(n.in(), argsort(n.in(), attrs), attrs.axis)};
                    }};

// the first k of the descending order
const OpDef top_k_op{.name = "top_k",
                     .attrs = attrs_type<TopKAttrs>(),
                     .arity = 1,
                     .infer = infer_top_k,
                     .decompose = [](const Node& n) -> Values {
                       const int64_t axis = n.in().rank() - 1;
                       const Value order = argsort(n.in(), {.axis = axis, .descending = true});
                       const Value first = slice_axis(order, axis, 0, n.attr<TopKAttrs>().k);
                       return {take_along_axis(n.in(), first, axis), cast(first, DType::i32)};
                     }};

Value sort(Value x, SortAttrs attrs) { return emit(sort_op, {x}, normalized(attrs, x, "sort")); }
Value argsort(Value x, SortAttrs attrs) {
  return emit(argsort_op, {x}, normalized(attrs, x, "argsort"));
}
TopK top_k(Value x, int64_t k) {
  Node& node = emit_node(top_k_op, {x}, TopKAttrs{k});
  return {node.out(0), node.out(1)};
}

}  // namespace keratin::ops
