#include "keratin/ops/cumulative.h"

#include "keratin/backend/reference/families.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"

namespace keratin::reference {

namespace {

// Runs along the axis with the total so far, floats in double.
template <class Combine>
void cumulate(const Call& call, int start) {
  const auto& attrs = call.node.attr<ops::CumulativeAttrs>();
  const Shape& shape = call.node.type().shape;
  const int64_t outer = shape.count(0, attrs.axis), size = shape[attrs.axis];
  const int64_t inner = shape.count(attrs.axis + 1, shape.rank());
  dispatch(call.node.type().dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    using A = std::conditional_t<std::is_integral_v<S>, S, double>;
    if constexpr (!std::is_same_v<S, bool>) {
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < inner; ++i) {
          A total = static_cast<A>(start);
          for (int64_t step = 0; step < size; ++step) {
            const int64_t k = attrs.reverse ? size - 1 - step : step;
            const int64_t at = (o * size + k) * inner + i;
            const A x = static_cast<A>(static_cast<compute_t<S>>(call.in<S>(0)[at]));
            const A next = Combine{}(total, x);
            call.out<S>()[at] =
                static_cast<S>(static_cast<compute_t<S>>(attrs.exclusive ? total : next));
            total = next;
          }
        }
    }
  });
}

void cumsum(const Call& call) { cumulate<scalar::Add>(call, 0); }
void cumprod(const Call& call) { cumulate<scalar::Mul>(call, 1); }

constexpr Entry table[] = {
    {&ops::cumsum_op, cumsum},
    {&ops::cumprod_op, cumprod},
};

}  // namespace

std::span<const Entry> cumulative_loops() { return table; }

}  // namespace keratin::reference
