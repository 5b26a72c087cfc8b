#include "keratin/backend/cpu/kernels/pool.h"

#include <limits>

#include "keratin/backend/cpu/kernels/level.h"
#include "keratin/backend/cpu/kernels/simd.h"
#include "keratin/backend/cpu/parallel.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t grain_elements = 8192;

struct Range {
  int64_t begin, end;
  int64_t size() const { return std::max<int64_t>(end - begin, 0); }
};

// The places of a window that lie inside the input, along one axis.
[[gnu::always_inline]] inline Range inside(const PoolShape& s, int axis, int64_t out) {
  const int64_t first = out * s.stride[axis] - s.pad[axis];
  return {std::max<int64_t>(-first, 0), std::min(s.window[axis], s.in[axis] - first)};
}

// The windows that hold an input element, along one axis.
[[gnu::always_inline]] inline Range windows_of(const PoolShape& s, int axis, int64_t in) {
  const int64_t at = in + s.pad[axis];
  const int64_t before = at - s.window[axis];  // the last start that no longer reaches it
  const int64_t first = before < 0 ? 0 : before / s.stride[axis] + 1;
  return {first, std::min(at / s.stride[axis] + 1, s.out[axis])};
}

// Calls body(n, p0, p1, p2) for the spatial positions of every image, shared out by rows.
template <class F>
[[gnu::always_inline]] inline void each_pixel(const PoolShape& s, const int64_t (&size)[3],
                                              int threads, const F& body) {
  const int64_t row_work = size[2] * s.channels * s.window_size() + 1;
  const int64_t rows = s.batch * size[0] * size[1];
  parallel_for(threads, rows, grain_elements / row_work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t p1 = row % size[1], p0 = row / size[1] % size[0], n = row / size[1] / size[0];
      for (int64_t p2 = 0; p2 < size[2]; ++p2) body(n, p0, p1, p2);
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
[[gnu::always_inline]] inline int64_t extent_of(Full) {
  return lanes<C>;
}
template <class C>
[[gnu::always_inline]] inline int64_t extent_of(Part part) {
  return part.n;
}

template <class T, class Index, bool keep>
[[gnu::noinline]] void max_pixel(const T* x, T* y, Index* index, const PoolShape& s,
                                 const Range (&r)[3]) {
  using C = compute_t<T>;
  each_vector<T>(s.channels, [&](int64_t c, auto part) {
    Vec<C> best = splat(-std::numeric_limits<C>::infinity());
    Vec<Lane<C>> where{};
    bool first = true;
    for (int64_t k0 = r[0].begin; k0 < r[0].end; ++k0) {
      for (int64_t k1 = r[1].begin; k1 < r[1].end; ++k1) {
        const T* row = x + ((k0 * s.in[1] + k1) * s.in[2]) * s.channels + c;
        const int64_t place = (k0 * s.window[1] + k1) * s.window[2];
        for (int64_t k2 = r[2].begin; k2 < r[2].end; ++k2) {
          const Vec<C> v = load(row + k2 * s.channels, part);
          const auto wins = (v > best) | (is_nan(v) & !is_nan(best));
          if constexpr (keep) {
            const Vec<Lane<C>> here = splat(static_cast<Lane<C>>(place + k2));
            where = first ? here : wins ? here : where;
          }
          best = wins ? v : best;
          first = false;
        }
      }
    }
    store(y + c, best, part);
    if constexpr (keep) store_index<C>(index + c, where, extent_of<C>(part));
  });
}

template <class T, class Index, bool keep>
void max_pool(const MaxPoolArgs& a) {
  const PoolShape& s = a.shape;
  each_pixel(s, s.out, a.threads, [&](int64_t n, int64_t p0, int64_t p1, int64_t p2) {
    const Range r[3] = {inside(s, 0, p0), inside(s, 1, p1), inside(s, 2, p2)};
    // The first place of the window, possibly outside: only places in range are read.
    const int64_t from = pixel(s.in, n, p0 * s.stride[0] - s.pad[0], p1 * s.stride[1] - s.pad[1],
                               p2 * s.stride[2] - s.pad[2]);
    const int64_t to = pixel(s.out, n, p0, p1, p2) * s.channels;
    max_pixel<T, Index, keep>(static_cast<const T*>(a.x) + from * s.channels,
                              static_cast<T*>(a.y) + to,
                              keep ? static_cast<Index*>(a.index) + to : nullptr, s, r);
  });
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
template <class T, class Index>
[[gnu::noinline]] void max_grad_pixel(const MaxPoolGradArgs& a, int64_t n, const int64_t (&p)[3]) {
  using C = compute_t<T>;
  const PoolShape& s = a.shape;
  const Range r[3] = {windows_of(s, 0, p[0]), windows_of(s, 1, p[1]), windows_of(s, 2, p[2])};
  T* const dx = static_cast<T*>(a.dx) + pixel(s.in, n, p[0], p[1], p[2]) * s.channels;
  each_vector<T>(s.channels, [&](int64_t c, auto part) {
    Vec<C> total{};
    for (int64_t o0 = r[0].begin; o0 < r[0].end; ++o0) {
      for (int64_t o1 = r[1].begin; o1 < r[1].end; ++o1) {
        for (int64_t o2 = r[2].begin; o2 < r[2].end; ++o2) {
          const int64_t k0 = p[0] + s.pad[0] - o0 * s.stride[0];
          const int64_t k1 = p[1] + s.pad[1] - o1 * s.stride[1];
          const int64_t k2 = p[2] + s.pad[2] - o2 * s.stride[2];
          const auto place = static_cast<Lane<C>>((k0 * s.window[1] + k1) * s.window[2] + k2);
          const int64_t at = pixel(s.out, n, o0, o1, o2) * s.channels + c;
          const auto hit =
              load_index<C>(static_cast<const Index*>(a.index) + at, extent_of<C>(part)) == place;
          total += hit ? load(static_cast<const T*>(a.dy) + at, part) : Vec<C>{};
        }
      }
    }
    store(dx + c, total, part);
  });
}

template <class T>
void max_pool_grad(const MaxPoolGradArgs& a) {
  const bool wide = a.shape.window_size() > 256;
  each_pixel(a.shape, a.shape.in, a.threads, [&](int64_t n, int64_t p0, int64_t p1, int64_t p2) {
    const int64_t p[3] = {p0, p1, p2};
    if (wide) {
      max_grad_pixel<T, int32_t>(a, n, p);
    } else {
      max_grad_pixel<T, uint8_t>(a, n, p);
    }
  });
}

template <class T>
[[gnu::noinline]] void avg_pixel(const T* x, T* y, const PoolShape& s, const Range (&r)[3]) {
  using C = compute_t<T>;
  const int64_t count = r[0].size() * r[1].size() * r[2].size();
  const C scale = C(1) / static_cast<C>(std::max<int64_t>(count, 1));
  each_vector<T>(s.channels, [&](int64_t c, auto part) {
    Vec<C> total{};
    for (int64_t k0 = r[0].begin; k0 < r[0].end; ++k0) {
      for (int64_t k1 = r[1].begin; k1 < r[1].end; ++k1) {
        const T* row = x + ((k0 * s.in[1] + k1) * s.in[2]) * s.channels + c;
        for (int64_t k2 = r[2].begin; k2 < r[2].end; ++k2) {
          total += load(row + k2 * s.channels, part);
        }
      }
    }
    store(y + c, total * scale, part);
  });
}

template <class T>
void avg_pool(const AvgPoolArgs& a) {
  const PoolShape& s = a.shape;
  each_pixel(s, s.out, a.threads, [&](int64_t n, int64_t p0, int64_t p1, int64_t p2) {
    const Range r[3] = {inside(s, 0, p0), inside(s, 1, p1), inside(s, 2, p2)};
    const int64_t from = pixel(s.in, n, p0 * s.stride[0] - s.pad[0], p1 * s.stride[1] - s.pad[1],
                               p2 * s.stride[2] - s.pad[2]);
    const int64_t to = pixel(s.out, n, p0, p1, p2);
    avg_pixel(static_cast<const T*>(a.x) + from * s.channels,
              static_cast<T*>(a.y) + to * s.channels, s, r);
  });
}

template <class T>
[[gnu::noinline]] void avg_grad_pixel(const AvgPoolGradArgs& a, int64_t n, const int64_t (&p)[3]) {
  using C = compute_t<T>;
  const PoolShape& s = a.shape;
  const Range r[3] = {windows_of(s, 0, p[0]), windows_of(s, 1, p[1]), windows_of(s, 2, p[2])};
  T* const dx = static_cast<T*>(a.dx) + pixel(s.in, n, p[0], p[1], p[2]) * s.channels;
  each_vector<T>(s.channels, [&](int64_t c, auto part) {
    Vec<C> total{};
    for (int64_t o0 = r[0].begin; o0 < r[0].end; ++o0) {
      for (int64_t o1 = r[1].begin; o1 < r[1].end; ++o1) {
        for (int64_t o2 = r[2].begin; o2 < r[2].end; ++o2) {
          const int64_t count =
              inside(s, 0, o0).size() * inside(s, 1, o1).size() * inside(s, 2, o2).size();
          const int64_t at = pixel(s.out, n, o0, o1, o2) * s.channels + c;
          total += load(static_cast<const T*>(a.dy) + at, part) * (C(1) / static_cast<C>(count));
        }
      }
    }
    store(dx + c, total, part);
  });
}

template <class T>
void avg_pool_grad(const AvgPoolGradArgs& a) {
  each_pixel(a.shape, a.shape.in, a.threads, [&](int64_t n, int64_t p0, int64_t p1, int64_t p2) {
    avg_grad_pixel<T>(a, n, {p0, p1, p2});
  });
}

}  // namespace

void add_pool(PoolKernels& k) {
  set_floats(k.max_pool, []<class T>(TypeTag<T>) { return &max_pool_any<T>; });
  set_floats(k.max_pool_grad, []<class T>(TypeTag<T>) { return &max_pool_grad<T>; });
  set_floats(k.avg_pool, []<class T>(TypeTag<T>) { return &avg_pool<T>; });
  set_floats(k.avg_pool_grad, []<class T>(TypeTag<T>) { return &avg_pool_grad<T>; });
}

}  // namespace keratin::cpu::KERATIN_LEVEL
