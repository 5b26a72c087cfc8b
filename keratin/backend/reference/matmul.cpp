#include "keratin/ops/matmul.h"

#include "keratin/backend/reference/loops.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"
#include "keratin/tensor/elements.h"

namespace keratin::reference {

namespace {

// out[batch, m, n] = Σ_k a[batch, m, k] · b[batch, k, n], summed in double.
void matmul(const Node& node, const BinaryOperands<View>& v) {
  const auto& attrs = node.attr<ops::MatmulAttrs>();
  const bool ta = attrs.transpose_a, tb = attrs.transpose_b;
  const Shape &a = v.a.shape(), &b = v.b.shape(), &out = v.y.shape();
  const int64_t rows = out[out.rank() - 2], columns = out[out.rank() - 1];
  const int64_t depth = a[a.rank() - (ta ? 2 : 1)];
  const auto batch = [](const Shape& s) { return Shape(std::span(s.begin(), s.end() - 2)); };
  dispatch(v.y.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    using A = std::conditional_t<std::is_integral_v<S>, S, double>;
    if constexpr (!std::is_same_v<S, bool>) {
      S* result = v.y.as<S>();
      for_each_index(batch(out), [&](const Dims& index) {
        const S* left = v.a.as<S>() + broadcast_position(index, batch(a)) * rows * depth;
        const S* right = v.b.as<S>() + broadcast_position(index, batch(b)) * depth * columns;
        for (int64_t m = 0; m < rows; ++m)
          for (int64_t n = 0; n < columns; ++n) {
            A total = 0;
            for (int64_t k = 0; k < depth; ++k) {
              const S x = left[ta ? k * rows + m : m * depth + k];
              const S y = right[tb ? n * depth + k : k * columns + n];
              const A product = scalar::Mul{}(static_cast<A>(static_cast<compute_t<S>>(x)),
                                              static_cast<A>(static_cast<compute_t<S>>(y)));
              total = scalar::Add{}(total, product);
            }
            *result++ = static_cast<S>(static_cast<compute_t<S>>(total));
          }
      });
    }
  });
}

}  // namespace

extern const KernelDef matmul_loop{
    .name = "matmul", .ops = {&ops::matmul_op}, .make = make_loop<BinaryOperands, matmul>};

}  // namespace keratin::reference
