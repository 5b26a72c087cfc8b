#include "keratin/ops/fill.h"

#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"

namespace keratin::ops {

// out[i] = value for each i of the input
const OpDef fill_like_op{
    .name = "fill_like",
    .attrs = attrs_type<FillAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      return {{n.attr<FillAttrs>().dtype, n.in().shape()}};
    },
    .decompose = [](const Node& n) -> Values {
      const auto& [dtype, value] = n.attr<FillAttrs>();
      return {full(n.in().block(), dtype, n.in().shape(), value)};
    },
    .grad = no_gradient,
};

Value fill_like(Value like, double value, DType dtype) {
  return emit(fill_like_op, {like}, FillAttrs{dtype, value});
}

}  // namespace keratin::ops
