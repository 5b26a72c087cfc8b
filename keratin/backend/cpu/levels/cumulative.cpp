#include "keratin/backend/cpu/levels/cumulative.h"

#include "keratin/backend/cpu/levels/simd.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t cumulative_grain = 8192;

template <bool product, class V>
[[gnu::always_inline]] inline V combine(V a, V b) {
  if constexpr (product) {
    return a * b;
  } else {
    return a + b;
  }
}

// Neighbouring columns side by side, along the axis one after the other.
template <class T, bool product, class Extent>
[[gnu::always_inline]] inline void scan_columns(const T* x, T* y, int64_t axis, int64_t step,
                                                bool exclusive, Extent extent) {
  using C = compute_t<T>;
  Vec<C> total = splat(static_cast<C>(product));
  for (int64_t k = 0; k < axis; ++k, x += step, y += step) {
    const Vec<C> next = combine<product>(total, load(x, extent));
    store(y, exclusive ? total : next, extent);
    total = next;
  }
}

template <class T, bool product>
[[gnu::noinline]] void scan_row(const T* x, T* y, int64_t axis, int64_t step, bool exclusive) {
  using C = compute_t<T>;
  C total = static_cast<C>(product);
  for (int64_t k = 0; k < axis; ++k, x += step, y += step) {
    const C next = combine<product>(total, get(x));
    put(y, exclusive ? total : next);
    total = next;
  }
}

template <class T, bool product>
void scan(const CumulativeArgs& a) {
  const int64_t slice = a.axis * a.inner;
  if (slice == 0) return;
  const int64_t start = a.reverse ? slice - a.inner : 0;
  const int64_t step = a.reverse ? -a.inner : a.inner;
  parallel_for(a.threads, a.outer, cumulative_grain / slice + 1, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const T* const x = static_cast<const T*>(a.x) + o * slice + start;
      T* const y = static_cast<T*>(a.y) + o * slice + start;
      if (a.inner == 1) {
        scan_row<T, product>(x, y, a.axis, step, a.exclusive);
      } else {
        each_vector<T>(a.inner, [&](int64_t i, auto extent) {
          scan_columns<T, product>(x + i, y + i, a.axis, step, a.exclusive, extent);
        });
      }
    }
  });
}

// Integers wrap, which is defined for unsigned types.
template <bool product>
constexpr void set_all(ByDType<void (*)(const CumulativeArgs&)>& out) {
  set_floats(out, []<class T>(TypeTag<T>) { return &scan<T, product>; });
  set_types<int8_t, uint8_t, int32_t, int64_t>(
      out, []<class T>(TypeTag<T>) { return &scan<std::make_unsigned_t<T>, product>; });
}

constexpr CumulativeRoutines cumulative_routines() {
  CumulativeRoutines routines{};
  set_all<false>(routines.sum);
  set_all<true>(routines.prod);
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const CumulativeRoutines CumulativeRoutines::KERATIN_LEVEL =
    KERATIN_LEVEL::cumulative_routines();
}  // namespace keratin::cpu
