#include "keratin/backend/cpu/levels/pool.h"

#include <limits>

#include "keratin/backend/cpu/levels/simd.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t pool_grain = 8192;

struct Range {
  int64_t begin, end;
  int64_t size() const { return std::max<int64_t>(end - begin, 0); }
};

// The positions of a window that lie inside the input, along one axis.
[[gnu::always_inline]] inline Range inside(const PoolShape& s, int axis, int64_t out) {
  const int64_t first = out * s.stride[axis] - s.pad[axis];
  return {std::max<int64_t>(-first, 0), std::min(s.window[axis], s.in[axis] - first)};
}

// The windows that hold an input element, along one axis.
struct Holders {
  const PoolShape& s;
  int axis;
  Range range{0, 0};

  // Moves to a further element.
  [[gnu::always_inline]] void advance(int64_t in) {
    const int64_t at = in + s.pad[axis], stride = s.stride[axis];
    while (range.begin * stride + s.window[axis] <= at) ++range.begin;
    while (range.end < s.out[axis] && range.end * stride <= at) ++range.end;
  }
};

// Calls body(n, p0, p1) for the rows of every image.
template <class F>
[[gnu::always_inline]] inline void each_row(const PoolShape& s, const int64_t (&size)[3],
                                            int threads, const F& body) {
  const int64_t row_work = size[2] * s.channels * s.window_size() + 1;
  const int64_t rows = s.batch * size[0] * size[1];
  parallel_for(threads, rows, pool_grain / row_work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      body(row / size[1] / size[0], row / size[1] % size[0], row % size[1]);
    }
  });
}

[[gnu::always_inline]] inline int64_t pixel(const int64_t (&size)[3], int64_t n, int64_t p0,
                                            int64_t p1, int64_t p2) {
  return ((n * size[0] + p0) * size[1] + p1) * size[2] + p2;
}

// Lanes of indices as wide as the lanes of values, so that one comparison steers both.
template <class C>
using Lane = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;

template <class C, class Index>
[[gnu::always_inline]] inline void store_index(Index* out, Vec<Lane<C>> lane, int64_t n) {
  typedef Index Narrow [[gnu::vector_size(lanes<C> * sizeof(Index))]];
  const Narrow narrow = __builtin_convertvector(lane, Narrow);
  std::memcpy(out, &narrow, static_cast<size_t>(n) * sizeof(Index));
}

template <class C, class Index>
[[gnu::always_inline]] inline Vec<Lane<C>> load_index(const Index* in, int64_t n) {
  typedef Index Narrow [[gnu::vector_size(lanes<C> * sizeof(Index))]];
  Narrow narrow{};
  std::memcpy(&narrow, in, static_cast<size_t>(n) * sizeof(Index));
  return __builtin_convertvector(narrow, Vec<Lane<C>>);
}

template <class C>
[[gnu::always_inline]] inline int64_t count_of(Full) {
  return lanes<C>;
}
template <class C>
[[gnu::always_inline]] inline int64_t count_of(Tail tail) {
  return tail.n;
}

// Calls body(offset from the first position, position) for the positions of a window that lie
// inside.
template <class F>
[[gnu::always_inline]] inline void each_position(const PoolShape& s, const Range (&r)[3],
                                                 const F& body) {
  for (int64_t k0 = r[0].begin; k0 < r[0].end; ++k0) {
    for (int64_t k1 = r[1].begin; k1 < r[1].end; ++k1) {
      const int64_t offset = ((k0 * s.in[1] + k1) * s.in[2]) * s.channels;
      const int64_t position = (k0 * s.window[1] + k1) * s.window[2];
      for (int64_t k2 = r[2].begin; k2 < r[2].end; ++k2) {
        body(offset + k2 * s.channels, position + k2);
      }
    }
  }
}

template <class T, class Index, bool keep>
[[gnu::always_inline]] inline void max_pixel(const T* x, T* y, Index* index, const PoolShape& s,
                                             const Range (&r)[3]) {
  using C = compute_t<T>;
  using I = Lane<C>;
  const int64_t start_position = (r[0].begin * s.window[1] + r[1].begin) * s.window[2] + r[2].begin;
  each_vector<T>(s.channels, [&](int64_t c, auto extent) {
    Vec<C> best = splat(-std::numeric_limits<C>::infinity());
    Vec<I> where = splat(static_cast<I>(start_position));
    each_position(s, r, [&](int64_t offset, int64_t position) {
      const Vec<C> v = load(x + offset + c, extent);
      // Larger or NaN, unless a NaN was found before.
      const auto wins = ~(v <= best) & (best == best);
      best = wins ? v : best;
      if constexpr (keep) where = wins ? splat(static_cast<I>(position)) : where;
    });
    if (y) store(y + c, best, extent);
    if constexpr (keep) store_index<C>(index + c, where, count_of<C>(extent));
  });
}

// The commonest window, inside whole: no loops, no ranges.
template <class T, class Index, bool keep>
[[gnu::noinline]] void max_row_2x2(const MaxPoolArgs& a, int64_t n, int64_t p0, int64_t p1) {
  using C = compute_t<T>;
  using I = Lane<C>;
  const PoolShape& s = a.shape;
  const int64_t to = pixel(s.out, n, p0, p1, 0) * s.channels;
  const int64_t down = s.in[2] * s.channels;
  const T* x = static_cast<const T*>(a.x) +
               pixel(s.in, n, p0 * s.stride[0], p1 * s.stride[1], 0) * s.channels;
  T* y = a.y ? static_cast<T*>(a.y) + to : nullptr;
  Index* index = keep ? static_cast<Index*>(a.index) + to : nullptr;
  for (int64_t p2 = 0; p2 < s.out[2]; ++p2, x += s.stride[2] * s.channels) {
    each_vector<T>(s.channels, [&](int64_t c, auto extent) {
      const T* const from = x + c;
      Vec<C> best = load(from, extent);
      Vec<I> where{};
      const auto next = [&](const T* element, I position) [[gnu::always_inline]] {
        const Vec<C> v = load(element, extent);
        const auto wins = ~(v <= best) & (best == best);
        best = wins ? v : best;
        if constexpr (keep) where = wins ? splat(position) : where;
      };
      next(from + s.channels, 1);
      next(from + down, 2);
      next(from + down + s.channels, 3);
      if (y) store(y + p2 * s.channels + c, best, extent);
      if constexpr (keep) store_index<C>(index + p2 * s.channels + c, where, count_of<C>(extent));
    });
  }
}

bool is_2x2_inside(const PoolShape& s) {
  bool inside = s.window[0] == 1 && s.window[1] == 2 && s.window[2] == 2;
  for (int k = 0; k < 3; ++k)
    inside = inside && s.pad[k] == 0 && (s.out[k] - 1) * s.stride[k] + s.window[k] <= s.in[k];
  return inside;
}

// One row of windows.
template <class T, class Index, bool keep>
[[gnu::noinline]] void max_row(const MaxPoolArgs& a, int64_t n, int64_t p0, int64_t p1) {
  const PoolShape& s = a.shape;
  Range r[3] = {inside(s, 0, p0), inside(s, 1, p1), {}};
  // The first position of a window may lie outside: only positions in range are read.
  const int64_t from = pixel(s.in, n, p0 * s.stride[0] - s.pad[0], p1 * s.stride[1] - s.pad[1], 0);
  const int64_t to = pixel(s.out, n, p0, p1, 0) * s.channels;
  for (int64_t p2 = 0; p2 < s.out[2]; ++p2) {
    r[2] = inside(s, 2, p2);
    const int64_t first = (from + p2 * s.stride[2] - s.pad[2]) * s.channels;
    const int64_t at = to + p2 * s.channels;
    max_pixel<T, Index, keep>(static_cast<const T*>(a.x) + first,
                              a.y ? static_cast<T*>(a.y) + at : nullptr,
                              keep ? static_cast<Index*>(a.index) + at : nullptr, s, r);
  }
}

template <class T, class Index, bool keep>
void max_pool(const MaxPoolArgs& a) {
  const auto row = is_2x2_inside(a.shape) ? max_row_2x2<T, Index, keep> : max_row<T, Index, keep>;
  each_row(a.shape, a.shape.out, a.threads,
           [&](int64_t n, int64_t p0, int64_t p1) { row(a, n, p0, p1); });
}

template <class T>
void max_pool_any(const MaxPoolArgs& a) {
  if (!a.index) {
    max_pool<T, uint8_t, false>(a);
  } else if (a.shape.window_size() > 256) {
    max_pool<T, int32_t, true>(a);
  } else {
    max_pool<T, uint8_t, true>(a);
  }
}

// Each input element gathers from the windows that hold it: written once, in one order.
// term(offset of a window's output, p - first position of the window, extent) gives what it adds.
template <class T, class F>
[[gnu::always_inline]] inline void gather_row(const PoolShape& s, T* dx, int64_t n, int64_t p0,
                                              int64_t p1, const F& term) {
  using C = compute_t<T>;
  Holders h[3] = {{s, 0}, {s, 1}, {s, 2}};
  h[0].advance(p0);
  h[1].advance(p1);
  T* to = dx + pixel(s.in, n, p0, p1, 0) * s.channels;
  for (int64_t p2 = 0; p2 < s.in[2]; ++p2, to += s.channels) {
    h[2].advance(p2);
    each_vector<T>(s.channels, [&](int64_t c, auto extent) {
      Vec<C> total{};
      for (int64_t o0 = h[0].range.begin; o0 < h[0].range.end; ++o0) {
        for (int64_t o1 = h[1].range.begin; o1 < h[1].range.end; ++o1) {
          for (int64_t o2 = h[2].range.begin; o2 < h[2].range.end; ++o2) {
            const int64_t position[3] = {p0 + s.pad[0] - o0 * s.stride[0],
                                         p1 + s.pad[1] - o1 * s.stride[1],
                                         p2 + s.pad[2] - o2 * s.stride[2]};
            const int64_t o[3] = {o0, o1, o2};
            total += term(pixel(s.out, n, o0, o1, o2) * s.channels + c, o, position, extent);
          }
        }
      }
      store(to + c, total, extent);
    });
  }
}

template <class T, class Index>
[[gnu::noinline]] void max_grad_row(const MaxPoolGradArgs& a, int64_t n, int64_t p0, int64_t p1) {
  using C = compute_t<T>;
  const PoolShape& s = a.shape;
  const T* const dy = static_cast<const T*>(a.dy);
  const Index* const index = static_cast<const Index*>(a.index);
  gather_row(s, static_cast<T*>(a.dx), n, p0, p1,
             [&](int64_t at, const int64_t(&)[3], const int64_t(&position)[3], auto extent) {
               const auto here = static_cast<Lane<C>>(
                   (position[0] * s.window[1] + position[1]) * s.window[2] + position[2]);
               const auto hit = load_index<C>(index + at, count_of<C>(extent)) == here;
               return hit ? load(dy + at, extent) : Vec<C>{};
             });
}

// The same where no two windows overlap: an element takes from one window or is zero.
template <class T, class Index>
[[gnu::noinline]] void max_grad_row_apart(const MaxPoolGradArgs& a, int64_t n, int64_t p0,
                                          int64_t p1) {
  using C = compute_t<T>;
  const PoolShape& s = a.shape;
  const int64_t channels = s.channels;
  T* const to = static_cast<T*>(a.dx) + pixel(s.in, n, p0, p1, 0) * channels;
  Holders h[2] = {{s, 0}, {s, 1}};
  h[0].advance(p0);
  h[1].advance(p1);
  const auto zero = [&](int64_t begin, int64_t end) {
    if (begin < end) std::fill(to + begin * channels, to + end * channels, T{});
  };
  if (h[0].range.size() == 0 || h[1].range.size() == 0) return zero(0, s.in[2]);
  const int64_t o0 = h[0].range.begin, o1 = h[1].range.begin;
  const int64_t k0 = p0 + s.pad[0] - o0 * s.stride[0], k1 = p1 + s.pad[1] - o1 * s.stride[1];
  const int64_t position = (k0 * s.window[1] + k1) * s.window[2];
  int64_t done = 0;
  for (int64_t o2 = 0; o2 < s.out[2]; ++o2) {
    const int64_t first = o2 * s.stride[2] - s.pad[2];
    const Range r = inside(s, 2, o2);
    zero(done, first + r.begin);
    done = first + r.end;
    const int64_t at = pixel(s.out, n, o0, o1, o2) * channels;
    const T* const dy = static_cast<const T*>(a.dy) + at;
    const Index* const index = static_cast<const Index*>(a.index) + at;
    each_vector<T>(channels, [&](int64_t c, auto extent) {
      const Vec<C> value = load(dy + c, extent);
      const Vec<Lane<C>> found = load_index<C>(index + c, count_of<C>(extent));
      for (int64_t k2 = r.begin; k2 < r.end; ++k2) {
        const auto hit = found == static_cast<Lane<C>>(position + k2);
        store(to + (first + k2) * channels + c, hit ? value : Vec<C>{}, extent);
      }
    });
  }
  zero(done, s.in[2]);
}

bool windows_apart(const PoolShape& s) {
  return s.stride[0] >= s.window[0] && s.stride[1] >= s.window[1] && s.stride[2] >= s.window[2];
}

template <class T, class Index>
auto max_grad_row_for(const PoolShape& s) {
  return windows_apart(s) ? max_grad_row_apart<T, Index> : max_grad_row<T, Index>;
}

template <class T>
void max_pool_grad(const MaxPoolGradArgs& a) {
  const auto row = a.shape.window_size() > 256 ? max_grad_row_for<T, int32_t>(a.shape)
                                               : max_grad_row_for<T, uint8_t>(a.shape);
  each_row(a.shape, a.shape.in, a.threads,
           [&](int64_t n, int64_t p0, int64_t p1) { row(a, n, p0, p1); });
}

template <class T>
[[gnu::noinline]] void avg_row(const AvgPoolArgs& a, int64_t n, int64_t p0, int64_t p1) {
  using C = compute_t<T>;
  const PoolShape& s = a.shape;
  Range r[3] = {inside(s, 0, p0), inside(s, 1, p1), {}};
  const int64_t from = pixel(s.in, n, p0 * s.stride[0] - s.pad[0], p1 * s.stride[1] - s.pad[1], 0);
  T* y = static_cast<T*>(a.y) + pixel(s.out, n, p0, p1, 0) * s.channels;
  for (int64_t p2 = 0; p2 < s.out[2]; ++p2, y += s.channels) {
    r[2] = inside(s, 2, p2);
    const T* const x =
        static_cast<const T*>(a.x) + (from + p2 * s.stride[2] - s.pad[2]) * s.channels;
    const int64_t count = std::max<int64_t>(r[0].size() * r[1].size() * r[2].size(), 1);
    const C scale = C(1) / static_cast<C>(count);
    each_vector<T>(s.channels, [&](int64_t c, auto extent) {
      Vec<C> total{};
      each_position(s, r, [&](int64_t offset, int64_t) { total += load(x + offset + c, extent); });
      store(y + c, total * scale, extent);
    });
  }
}

template <class T>
void avg_pool(const AvgPoolArgs& a) {
  each_row(a.shape, a.shape.out, a.threads,
           [&](int64_t n, int64_t p0, int64_t p1) { avg_row<T>(a, n, p0, p1); });
}

template <class T>
[[gnu::noinline]] void avg_grad_row(const AvgPoolGradArgs& a, int64_t n, int64_t p0, int64_t p1) {
  using C = compute_t<T>;
  const PoolShape& s = a.shape;
  const T* const dy = static_cast<const T*>(a.dy);
  gather_row(s, static_cast<T*>(a.dx), n, p0, p1,
             [&](int64_t at, const int64_t(&o)[3], const int64_t(&)[3], auto extent) {
               const int64_t count = inside(s, 0, o[0]).size() * inside(s, 1, o[1]).size() *
                                     inside(s, 2, o[2]).size();
               return load(dy + at, extent) * (C(1) / static_cast<C>(count));
             });
}

template <class T>
void avg_pool_grad(const AvgPoolGradArgs& a) {
  each_row(a.shape, a.shape.in, a.threads,
           [&](int64_t n, int64_t p0, int64_t p1) { avg_grad_row<T>(a, n, p0, p1); });
}

constexpr PoolRoutines pool_routines() {
  PoolRoutines routines{};
  set_floats(routines.max_pool, []<class T>(TypeTag<T>) { return &max_pool_any<T>; });
  set_floats(routines.max_pool_grad, []<class T>(TypeTag<T>) { return &max_pool_grad<T>; });
  set_floats(routines.avg_pool, []<class T>(TypeTag<T>) { return &avg_pool<T>; });
  set_floats(routines.avg_pool_grad, []<class T>(TypeTag<T>) { return &avg_pool_grad<T>; });
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const PoolRoutines PoolRoutines::KERATIN_LEVEL = KERATIN_LEVEL::pool_routines();
}  // namespace keratin::cpu
