#include "keratin/ops/matmul.h"

#include "keratin/backend/reference/families.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"

namespace keratin::reference {

namespace {

// out[batch, m, n] = Σ_k a[batch, m, k] · b[batch, k, n], summed in double.
void matmul(const Call& call) {
  const auto& attrs = call.node.attr<ops::MatmulAttrs>();
  const bool ta = attrs.transpose_a, tb = attrs.transpose_b;
  const Shape &a = call.node.in(0).shape(), &b = call.node.in(1).shape();
  const Shape& out = call.node.type().shape;
  const int64_t rows = out[out.rank() - 2], columns = out[out.rank() - 1];
  const int64_t depth = a[a.rank() - (ta ? 2 : 1)];
  const auto batch = [](const Shape& s) { return Shape(std::span(s.begin(), s.end() - 2)); };
  dispatch(call.node.type().dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    using A = std::conditional_t<std::is_integral_v<S>, S, double>;
    if constexpr (!std::is_same_v<S, bool>) {
      S* result = call.out<S>();
      for_each_index(batch(out), [&](const Dims& index) {
        const S* left = call.in<S>(0) + broadcast_position(index, batch(a)) * rows * depth;
        const S* right = call.in<S>(1) + broadcast_position(index, batch(b)) * depth * columns;
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

constexpr Entry table[] = {{&ops::matmul_op, matmul}};

}  // namespace

std::span<const Entry> matmul_loops() { return table; }

}  // namespace keratin::reference
