#include "keratin/ops/positions.h"

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

// out[i] = i for each i along an axis of the input
const OpDef positions_op{
    .name = "positions",
    .attrs = attrs_type<AxisAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      const int64_t axis = n.attr<AxisAttrs>().axis;
      require(axis >= 0 && axis < n.in().rank(), "positions: axis ", axis, " is outside ",
              n.in().shape());
      return {{DType::i32, {n.in().shape()[axis]}}};
    },
    .decompose = [](const Node& n) -> Values {
      const int64_t size = n.in().shape()[n.attr<AxisAttrs>().axis];
      return {iota(n.in().block(), DType::i32, {size}, 0)};
    },
    .grad = no_gradient,
};

Value positions(Value x, int64_t axis) {
  return emit(positions_op, {x}, AxisAttrs{normalize_axis(axis, x.rank(), "positions")});
}

}  // namespace keratin::ops
