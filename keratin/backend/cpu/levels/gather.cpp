#include "keratin/backend/cpu/levels/gather.h"

#include <cstring>

#include "keratin/backend/cpu/levels/simd.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t grain_bytes = 65536;

// The position of the first index outside [-axis, axis), or -1.
template <class I>
[[gnu::noinline]] int64_t first_bad(const I* index, int64_t n, int64_t axis) {
  constexpr int64_t block = 1024;
  const int64_t limit = std::min<int64_t>(axis, std::numeric_limits<I>::max());
  const I low = static_cast<I>(-limit), high = static_cast<I>(limit);
  for (int64_t first = 0; first < n; first += block) {
    const int64_t end = std::min(first + block, n);
    I bad = 0;
    for (int64_t i = first; i < end; ++i) bad |= (index[i] < low) | (index[i] >= high);
    for (int64_t i = first; bad && i < end; ++i) {
      if (index[i] < low || index[i] >= high) return i;
    }
  }
  return -1;
}

// A checked index, counted from the front.
[[gnu::always_inline]] inline int64_t wrapped(int64_t index, int64_t axis) {
  return index < 0 ? index + axis : index;
}

// Calls body(index array), typed, once all of its indices are known to be good.
template <class Args, class F>
[[gnu::always_inline]] inline int64_t with_index(const Args& a, int64_t n, const F& body) {
  if (a.index_bytes == 4) {
    const auto* const index = static_cast<const int32_t*>(a.index);
    if (const int64_t bad = first_bad(index, n, a.axis); bad >= 0) return bad;
    body(index);
  } else {
    const auto* const index = static_cast<const int64_t*>(a.index);
    if (const int64_t bad = first_bad(index, n, a.axis); bad >= 0) return bad;
    body(index);
  }
  return -1;
}

int64_t gather(const GatherArgs& a) {
  const int64_t row = a.inner * a.element_bytes;
  const auto* const x = static_cast<const char*>(a.x);
  auto* const y = static_cast<char*>(a.y);
  return with_index(a, a.count, [&](const auto* index) {
    if (row == 0) return;  // there may be no memory at all
    parallel_for(
        a.threads, a.outer * a.count, grain_bytes / (row + 8) + 1, [&](int64_t begin, int64_t end) {
          for (int64_t at = begin; at < end; ++at) {
            const int64_t from = at / a.count * a.axis + wrapped(index[at % a.count], a.axis);
            std::memcpy(y + at * row, x + from * row, static_cast<size_t>(row));
          }
        });
  });
}

template <class E, class I>
[[gnu::noinline]] void gather_rows_along(const E* x, const I* index, E* y, int64_t begin,
                                         int64_t end, const GatherAlongArgs& a) {
  for (int64_t row = begin; row < end; ++row) {
    const E* const slice = x + row / a.count * a.axis * a.inner;
    for (int64_t i = 0; i < a.inner; ++i) {
      y[row * a.inner + i] = slice[wrapped(index[row * a.inner + i], a.axis) * a.inner + i];
    }
  }
}

int64_t gather_along(const GatherAlongArgs& a) {
  const int64_t rows = a.outer * a.count;
  const auto run = [&]<class E>(const E* x, E* y, const auto* index) {
    parallel_for(
        a.threads, rows, grain_bytes / (a.inner * 4 + 1) + 1,
        [&](int64_t begin, int64_t end) { gather_rows_along(x, index, y, begin, end, a); });
  };
  return with_index(a, rows * a.inner, [&](const auto* index) {
    switch (a.element_bytes) {
      case 1:
        return run(static_cast<const uint8_t*>(a.x), static_cast<uint8_t*>(a.y), index);
      case 2:
        return run(static_cast<const uint16_t*>(a.x), static_cast<uint16_t*>(a.y), index);
      case 4:
        return run(static_cast<const uint32_t*>(a.x), static_cast<uint32_t*>(a.y), index);
      default:
        return run(static_cast<const uint64_t*>(a.x), static_cast<uint64_t*>(a.y), index);
    }
  });
}

template <class T>
[[gnu::always_inline]] inline void add_row(T* y, const T* x, int64_t n) {
  each_vector<T>(n, [&](int64_t i, auto extent) {
    store(y + i, load(y + i, extent) + load(x + i, extent), extent);
  });
}

// Adds the rows whose target lies in [first, last) of the axis.
template <class T, class I>
[[gnu::noinline]] void scatter_range(const T* x, const I* index, T* y, const ScatterAddArgs& a,
                                     int64_t first, int64_t last) {
  for (int64_t j = 0; j < a.count; ++j) {
    const int64_t to = wrapped(index[j], a.axis);
    if (to >= first && to < last) add_row(y + to * a.inner, x + j * a.inner, a.inner);
  }
}

// Threads share out targets, never updates: every element sees its updates in order.
template <class T>
int64_t scatter_add(const ScatterAddArgs& a) {
  const T* const x = static_cast<const T*>(a.x);
  T* const y = static_cast<T*>(a.y);
  const int64_t work = a.count * (a.inner + 1) * static_cast<int64_t>(sizeof(T));
  return with_index(a, a.count, [&](const auto* index) {
    const int64_t targets = a.outer * a.axis;
    parallel_for(a.threads, targets,
                 std::max(grain_bytes * a.axis / (work + 1) + 1, largest_grain(a.threads, targets)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t o = begin / std::max<int64_t>(a.axis, 1); o * a.axis < end; ++o) {
                     scatter_range(x + o * a.count * a.inner, index, y + o * a.axis * a.inner, a,
                                   std::max<int64_t>(begin - o * a.axis, 0),
                                   std::min(end - o * a.axis, a.axis));
                   }
                 });
  });
}

// One column of one slice after the other; threads share out columns.
template <class T>
int64_t scatter_add_along(const ScatterAddAlongArgs& a) {
  const T* const x = static_cast<const T*>(a.x);
  T* const y = static_cast<T*>(a.y);
  const int64_t columns = a.outer * a.inner;
  return with_index(a, columns * a.count, [&](const auto* index) {
    parallel_for(a.threads, columns,
                 std::max(grain_bytes / (a.count * 16 + 1) + 1, largest_grain(a.threads, columns)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t column = begin; column < end;) {
                     const int64_t o = column / a.inner, i0 = column % a.inner;
                     const int64_t i1 = std::min(a.inner, i0 + end - column);
                     T* const slice = y + o * a.axis * a.inner;
                     for (int64_t j = o * a.count; j < (o + 1) * a.count; ++j) {
                       for (int64_t i = i0; i < i1; ++i) {
                         const int64_t at = j * a.inner + i;
                         T* const to = slice + wrapped(index[at], a.axis) * a.inner + i;
                         put(to, static_cast<compute_t<T>>(get(to) + get(x + at)));
                       }
                     }
                     column += i1 - i0;
                   }
                 });
  });
}

constexpr GatherRoutines gather_routines() {
  GatherRoutines routines{};
  routines.gather = gather;
  routines.gather_along = gather_along;
  set_floats(routines.scatter_add, []<class T>(TypeTag<T>) { return &scatter_add<T>; });
  set_floats(routines.scatter_add_along, []<class T>(TypeTag<T>) { return &scatter_add_along<T>; });
  // Integers wrap, which is defined for unsigned types.
  set_types<int8_t, uint8_t, int32_t, int64_t>(routines.scatter_add, []<class T>(TypeTag<T>) {
    return &scatter_add<std::make_unsigned_t<T>>;
  });
  set_types<int8_t, uint8_t, int32_t, int64_t>(routines.scatter_add_along, []<class T>(TypeTag<T>) {
    return &scatter_add_along<std::make_unsigned_t<T>>;
  });
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const GatherRoutines GatherRoutines::KERATIN_LEVEL = KERATIN_LEVEL::gather_routines();
}  // namespace keratin::cpu
