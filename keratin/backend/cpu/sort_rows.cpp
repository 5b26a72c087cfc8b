#include "keratin/backend/cpu/sort_rows.h"

#include <algorithm>
#include <bit>

#include "keratin/backend/cpu/parallel.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu {
namespace {

// An unsigned number that orders as the element does: bits of a negative float are inverted,
// those of a positive one get the top bit; zeros are equal and NaN is above all.
template <class C>
inline auto key_of(C v, bool descending) {
  if constexpr (std::is_floating_point_v<C>) {
    using U = std::conditional_t<sizeof(C) == 8, uint64_t, uint32_t>;
    if (v != v) return static_cast<U>(-1);
    constexpr U top = U{1} << (sizeof(U) * 8 - 1);
    const U bits = std::bit_cast<U>(v + C(0));
    const U up = bits & top ? static_cast<U>(~bits) : bits | top;
    return descending ? static_cast<U>(~up) : up;
  } else {
    using U = std::conditional_t<sizeof(C) == 8, uint64_t, uint32_t>;
    constexpr U top = std::is_signed_v<C> ? U{1} << (sizeof(U) * 8 - 1) : U{0};
    const U up = static_cast<U>(v) ^ top;
    return descending ? static_cast<U>(~up) : up;
  }
}

// With the position as the less significant half of the key no two are equal, so any sort is
// stable.
template <class U>
struct Entry {
  U key;
  uint32_t index;
};

struct Before {
  template <class U>
  bool operator()(const Entry<U>& a, const Entry<U>& b) const {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};

template <class U>
void order(Entry<U>* entries, int64_t n, int64_t keep) {
  if (keep < n) std::nth_element(entries, entries + keep, entries + n, Before{});
  std::sort(entries, entries + keep, Before{});
}

template <class T>
void sort_row(const SortArgs& a, int64_t row, void* memory) {
  using C = compute_t<T>;
  using U = decltype(key_of(C{}, false));
  auto* const entries = static_cast<Entry<U>*>(memory);
  const T* const x = static_cast<const T*>(a.x) + row * a.cols;
  for (int64_t i = 0; i < a.cols; ++i) {
    entries[i] = {key_of(static_cast<C>(x[i]), a.descending), static_cast<uint32_t>(i)};
  }
  order(entries, a.cols, a.keep);
  for (int64_t i = 0; i < a.keep; ++i) {
    const int64_t from = entries[i].index, at = row * a.keep + i;
    if (a.values) static_cast<T*>(a.values)[at] = x[from];
    if (!a.index) continue;
    if (a.index_bytes == 4) {
      static_cast<int32_t*>(a.index)[at] = static_cast<int32_t>(from);
    } else {
      static_cast<int64_t*>(a.index)[at] = from;
    }
  }
}

// At most `threads` chunks of rows, each with scratch memory of its own.
template <class T>
void sort(const SortArgs& a) {
  const int64_t chunks = std::clamp<int64_t>(a.rows * a.cols / 4096, 1, std::max(a.threads, 1));
  parallel_for(a.threads, chunks, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      char* const memory = static_cast<char*>(a.scratch) + p * sort_scratch(a.cols, 1);
      for (int64_t r = a.rows * p / chunks; r < a.rows * (p + 1) / chunks; ++r) {
        sort_row<T>(a, r, memory);
      }
    }
  });
}

constexpr ByDType<SortRoutine> make_routines() {
  ByDType<SortRoutine> routines;
  const auto pick = []<class T>(TypeTag<T>) { return &sort<T>; };
  set_floats(routines, pick);
  set_types<int8_t, uint8_t, int32_t, int64_t>(routines, pick);
  routines[DType::boolean] = &sort<uint8_t>;
  return routines;
}

}  // namespace

SortRoutine sort_rows(DType dtype) {
  static constexpr ByDType<SortRoutine> routines = make_routines();
  return routines[dtype];
}

}  // namespace keratin::cpu
