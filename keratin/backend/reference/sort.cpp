#include "keratin/ops/sort.h"

#include <algorithm>
#include <numeric>

#include "keratin/backend/reference/families.h"
#include "keratin/ops/records.h"

namespace keratin::reference {

namespace {

// Does a come before b? NaN after everything.
template <class C>
bool before(C a, C b, bool descending) {
  if (a != a || b != b) return a == a;
  return descending ? b < a : a < b;
}

void argsort(const Call& call) {
  const auto [axis, descending] = call.node.attr<ops::SortAttrs>();
  const Shape& shape = call.node.type().shape;
  const int64_t outer = shape.count(0, axis), size = shape[axis];
  const int64_t inner = shape.count(axis + 1, shape.rank());
  dispatch(call.node.in().dtype(), [&, descending = descending](auto tag) {
    using S = typename decltype(tag)::type;
    std::vector<int64_t> order(static_cast<size_t>(size));
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const auto at = [&](int64_t k) {
          return static_cast<compute_t<S>>(call.in<S>(0)[(o * size + k) * inner + i]);
        };
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t a, int64_t b) { return before(at(a), at(b), descending); });
        for (int64_t k = 0; k < size; ++k)
          call.out<int64_t>()[(o * size + k) * inner + i] = order[static_cast<size_t>(k)];
      }
  });
}

constexpr Entry table[] = {{&ops::argsort_op, argsort}};

}  // namespace

std::span<const Entry> sort_loops() { return table; }

}  // namespace keratin::reference
