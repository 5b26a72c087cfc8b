#include "keratin/ops/cumulative.h"

#include "keratin/backend/reference/loops.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"
#include "keratin/tensor/elements.h"

namespace keratin::reference {

namespace {

// Runs along the axis with the total so far, floats in double.
template <class Combine>
void cumulate(const Node& node, const UnaryOperands<View>& v, int start) {
  const auto& attrs = node.attr<ops::CumulativeAttrs>();
  const Shape& shape = v.y.shape();
  const int64_t outer = shape.count(0, attrs.axis), size = shape[attrs.axis];
  const int64_t inner = shape.count(attrs.axis + 1, shape.rank());
  dispatch(v.y.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    using A = std::conditional_t<std::is_integral_v<S>, S, double>;
    if constexpr (!std::is_same_v<S, bool>) {
      const S* in = v.x.as<S>();
      S* out = v.y.as<S>();
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < inner; ++i) {
          A total = static_cast<A>(start);
          for (int64_t step = 0; step < size; ++step) {
            const int64_t k = attrs.reverse ? size - 1 - step : step;
            const int64_t at = (o * size + k) * inner + i;
            const A x = static_cast<A>(static_cast<compute_t<S>>(in[at]));
            const A next = Combine{}(total, x);
            out[at] = static_cast<S>(static_cast<compute_t<S>>(attrs.exclusive ? total : next));
            total = next;
          }
        }
    }
  });
}

void cumsum(const Node& node, const UnaryOperands<View>& v) { cumulate<scalar::Add>(node, v, 0); }
void cumprod(const Node& node, const UnaryOperands<View>& v) { cumulate<scalar::Mul>(node, v, 1); }

}  // namespace

extern const KernelDef cumsum_loop{
    .name = "cumsum", .ops = {&ops::cumsum_op}, .make = make_loop<UnaryOperands, cumsum>};
extern const KernelDef cumprod_loop{
    .name = "cumprod", .ops = {&ops::cumprod_op}, .make = make_loop<UnaryOperands, cumprod>};

}  // namespace keratin::reference
