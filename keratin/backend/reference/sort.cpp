#include "keratin/ops/sort.h"

#include <algorithm>
#include <numeric>

#include "keratin/backend/reference/loops.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/elements.h"

namespace keratin::reference {

namespace {

// Does a come before b? NaN after everything.
template <class C>
bool sorts_before(C a, C b, bool descending) {
  if (a != a || b != b) return a == a;
  return descending ? b < a : a < b;
}

void argsort(const Node& node, const UnaryOperands<View>& v) {
  const auto [axis, descending] = node.attr<ops::SortAttrs>();
  const Shape& shape = v.y.shape();
  const int64_t outer = shape.count(0, axis), size = shape[axis];
  const int64_t inner = shape.count(axis + 1, shape.rank());
  dispatch(v.x.dtype(), [&, descending = descending](auto tag) {
    using S = typename decltype(tag)::type;
    std::vector<int64_t> order(static_cast<size_t>(size));
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const auto at = [&](int64_t k) {
          return static_cast<compute_t<S>>(v.x.as<S>()[(o * size + k) * inner + i]);
        };
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
          return sorts_before(at(a), at(b), descending);
        });
        for (int64_t k = 0; k < size; ++k)
          v.y.as<int64_t>()[(o * size + k) * inner + i] = order[static_cast<size_t>(k)];
      }
  });
}

}  // namespace

extern const KernelDef argsort_loop{
    .name = "argsort", .ops = {&ops::argsort_op}, .make = make_loop<UnaryOperands, argsort>};

}  // namespace keratin::reference
