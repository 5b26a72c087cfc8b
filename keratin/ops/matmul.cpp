#include "keratin/ops/matmul.h"

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

Shape batch_axes(const Shape& shape) {
  return Shape(std::span(shape.begin(), static_cast<size_t>(shape.rank() - 2)));
}

Types infer_matmul(const Node& n) {
  const auto& attrs = n.attr<MatmulAttrs>();
  const Shape &a = n.in(0).shape(), &b = n.in(1).shape();
  require(n.in(0).dtype() == n.in(1).dtype() && n.in(0).dtype() != DType::boolean,
          "matmul: inputs must be numbers of one dtype, got ", n.in(0).type(), " and ",
          n.in(1).type());
  require(a.rank() >= 2 && b.rank() >= 2, "matmul: inputs must have rank 2 or more, got ", a,
          " and ", b);
  const int64_t rows = a[a.rank() - (attrs.transpose_a ? 1 : 2)];
  const int64_t depth_a = a[a.rank() - (attrs.transpose_a ? 2 : 1)];
  const int64_t depth_b = b[b.rank() - (attrs.transpose_b ? 1 : 2)];
  const int64_t columns = b[b.rank() - (attrs.transpose_b ? 2 : 1)];
  require(depth_a == depth_b || depth_a == unknown || depth_b == unknown,
          "matmul: the inner sizes of ", a, attrs.transpose_a ? " (transposed)" : "", " and ", b,
          attrs.transpose_b ? " (transposed)" : "", " differ: ", depth_a, " and ", depth_b);
  Dims dims = broadcast(batch_axes(a), batch_axes(b), "matmul").dims();
  dims.push_back(rows);
  dims.push_back(columns);
  return {{n.in(0).dtype(), Shape(dims)}};
}

// One matrix over all leading axes.
Value flat(Value x) {
  const Shape& shape = x.shape();
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis)
    rows = rows < 0 || shape[axis] == unknown ? infer_size : rows * shape[axis];
  return reshape(x, {rows, shape.back()});
}

// If one matrix B is multiplied with many of A, dB sums over these: one matmul over all rows does
// both.
bool is_shared_by_rows(const Shape& a, const Shape& b, const MatmulAttrs& attrs) {
  return b.rank() == 2 && a.rank() > 2 && !attrs.transpose_a && a.back() != unknown &&
         b[attrs.transpose_b ? 0 : 1] != unknown;
}

}  // namespace

// y = A·B: dA = dy·Bᵀ, dB = Aᵀ·dy, with operands swapped where an input is transposed.
const OpDef matmul_op{
    .name = "matmul",
    .attrs = attrs_type<MatmulAttrs>(),
    .arity = 2,
    .infer = infer_matmul,
    .grad = [](const Node& n, const Values& dy) -> Values {
      const auto [ta, tb] = n.attr<MatmulAttrs>();
      const Value a = n.in(0), b = n.in(1);
      const Value da = ta ? matmul(b, dy[0], {.transpose_a = tb, .transpose_b = true})
                          : matmul(dy[0], b, {.transpose_b = !tb});
      const bool shared = is_shared_by_rows(a.shape(), b.shape(), {ta, tb});
      const Value rows = shared ? flat(a) : a, slopes = shared ? flat(dy[0]) : dy[0];
      const Value db = tb ? matmul(slopes, rows, {.transpose_a = true, .transpose_b = ta})
                          : matmul(rows, slopes, {.transpose_a = !ta});
      return unbroadcast(n, da, db);
    },
    .flops =
        [](const Node& n) {
          const Shape& a = n.in(0).shape();
          const int64_t depth = a[a.rank() - (n.attr<MatmulAttrs>().transpose_a ? 2 : 1)];
          return 2.0 * static_cast<double>(n.type().shape.count()) * static_cast<double>(depth);
        },
};

Value matmul(Value a, Value b, MatmulAttrs attrs) {
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = expand_dims(a, attrs.transpose_a ? 1 : 0);
  if (column) b = expand_dims(b, attrs.transpose_b ? 0 : 1);
  Value y = emit(matmul_op, {a, b}, attrs);
  if (column) y = squeeze(y, -1);
  return row ? squeeze(y, column ? -1 : -2) : y;
}

}  // namespace keratin::ops
