#include "keratin/backend/cpu/levels/reduce.h"
#include "keratin/backend/cpu/levels/rows.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t arg_reduce_grain = 8192;

// True if v replaces best: strictly better, or the first NaN.
template <class C, bool largest>
[[gnu::always_inline]] inline auto beats(C v, C best) {
  if constexpr (largest) {
    return (v > best) | (is_nan(v) & !is_nan(best));
  } else {
    return (v < best) | (is_nan(v) & !is_nan(best));
  }
}

// The best value first, then where it is: both passes vectorise, and the row is in cache.
template <class T, bool largest>
[[gnu::noinline]] int64_t arg_row(const T* x, int64_t n) {
  using C = compute_t<T>;
  const C first = get(x);
  Vec<C> acc[4];
  for (auto& a : acc) a = splat(first);
  each_of_four<T>(n, acc, [&](int64_t i, Vec<C>& a, auto extent) {
    const Vec<C> v = load(x + i, extent, first);
    a = beats<Vec<C>, largest>(v, a) ? v : a;
  });
  const auto better = [](Vec<C> a, Vec<C> b) { return beats<Vec<C>, largest>(b, a) ? b : a; };
  const C best = fold_lanes<C>(better(better(acc[0], acc[1]), better(acc[2], acc[3])), better);
  constexpr int64_t block = 64;
  for (int64_t i = 0; i < n; i += block) {
    const int64_t m = std::min(block, n - i);
    decltype(Vec<C>{} == Vec<C>{}) found{};
    each_vector<T>(m, [&](int64_t j, auto extent) {
      const Vec<C> v = load(x + i + j, extent, best);
      found |= is_nan(best) ? is_nan(v) : v == best;
    });
    if (!any_bit(found)) continue;
    for (int64_t j = i; j < i + m; ++j) {
      const C v = get(x + j);
      if (is_nan(best) ? is_nan(v) : v == best) return j;
    }
  }
  return 0;
}

void put_index(const ArgReduceArgs& a, int64_t at, int64_t index) {
  if (a.index_bytes == 4) {
    static_cast<int32_t*>(a.index)[at] = static_cast<int32_t>(index);
  } else {
    static_cast<int64_t*>(a.index)[at] = index;
  }
}

// A tile of columns side by side.
template <class T, bool largest>
[[gnu::noinline]] void arg_columns(const T* x, int64_t n, int64_t stride, int64_t width,
                                   int32_t* __restrict index) {
  using C = compute_t<T>;
  constexpr int64_t tile = 64;
  C best[tile];
  for (int64_t i = 0; i < width; ++i) best[i] = get(x + i), index[i] = 0;
  for (int64_t k = 1; k < n; ++k) {
    C value[tile];
    for (int64_t i = 0; i < width; ++i) value[i] = get(x + k * stride + i);
    for (int64_t i = 0; i < width; ++i) {
      const bool wins = beats<C, largest>(value[i], best[i]);
      best[i] = wins ? value[i] : best[i];
      index[i] = wins ? static_cast<int32_t>(k) : index[i];
    }
  }
}

template <class T, bool largest>
void arg_reduce(const ArgReduceArgs& a) {
  const T* const x = static_cast<const T*>(a.x);
  constexpr int64_t tile = 64;
  const int64_t tiles = (a.inner + tile - 1) / tile;
  const int64_t work = a.axis * std::min(a.inner, tile) + 1;
  parallel_for(a.threads, a.outer * tiles, arg_reduce_grain / work + 1,
               [&](int64_t first, int64_t last) {
                 for (int64_t task = first; task < last; ++task) {
                   const int64_t o = task / tiles, begin = task % tiles * tile;
                   const T* const slice = x + o * a.axis * a.inner;
                   if (a.inner == 1) {
                     put_index(a, o, arg_row<T, largest>(slice, a.axis));
                     continue;
                   }
                   int32_t index[tile];
                   const int64_t width = std::min(tile, a.inner - begin);
                   arg_columns<T, largest>(slice + begin, a.axis, a.inner, width, index);
                   for (int64_t i = 0; i < width; ++i) {
                     put_index(a, o * a.inner + begin + i, index[i]);
                   }
                 }
               });
}

template <bool largest>
constexpr void set_all(ByDType<void (*)(const ArgReduceArgs&)>& out) {
  const auto pick = []<class T>(TypeTag<T>) { return &arg_reduce<T, largest>; };
  set_floats(out, pick);
  set_types<int8_t, uint8_t, int32_t, int64_t>(out, pick);
  out[DType::boolean] = &arg_reduce<uint8_t, largest>;
}

constexpr ArgReduceRoutines arg_reduce_routines() {
  ArgReduceRoutines routines{};
  set_all<true>(routines.argmax);
  set_all<false>(routines.argmin);
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const ArgReduceRoutines ArgReduceRoutines::KERATIN_LEVEL =
    KERATIN_LEVEL::arg_reduce_routines();
}  // namespace keratin::cpu
