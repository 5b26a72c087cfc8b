#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/norm_rules.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"

namespace keratin::ops {

// mean[c] = Σ x[…, c] / m; variance[c] = Σ (x[…, c] - mean[c])² / m, in the arithmetic of
// statistics
const OpDef moments_op{
    .name = "moments",
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      require(is_float(n.in().dtype()) && n.in().rank() >= 2, n.name(),
              ": expected a float tensor of rank 2 or more, got ", n.in().type());
      const Type statistic{statistics_dtype(n.in().dtype()), {n.in().shape().back()}};
      return {statistic, statistic};
    },
    .decompose = [](const Node& n) -> Values {
      const Dims columns = {n.in().rank() - 1}, rows = other_axes(n.in().shape(), columns);
      const Value x = precise(n.in()), centre = mean(x, rows);
      return {centre, mean(square(x - centre), rows)};
    },
};

Moments moments(Value x) {
  const Node& node = emit_node(moments_op, {x});
  return {node.out(0), node.out(1)};
}

}  // namespace keratin::ops
