#include "keratin/backend/cpu/levels/copy.h"

#include <cstring>

#include "keratin/backend/cpu/levels/simd.h"
#include "keratin/backend/cpu/parallel.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t copy_grain = 16384;

typedef uint64_t Wide [[gnu::vector_size(16)]];

template <int bytes>
struct ElementOf;
template <>
struct ElementOf<1> {
  using type = uint8_t;
};
template <>
struct ElementOf<2> {
  using type = uint16_t;
};
template <>
struct ElementOf<4> {
  using type = uint32_t;
};
template <>
struct ElementOf<8> {
  using type = uint64_t;
};
template <>
struct ElementOf<16> {
  using type = Wide;
};

// An element made of several smaller ones may start anywhere, so none is taken to be aligned.
template <class E>
[[gnu::always_inline]] inline void put_element(E* dst, const E* src) {
  std::memcpy(dst, src, sizeof(E));
}

template <class E>
[[gnu::noinline]] void copy_row(E* __restrict dst, const E* __restrict src, int64_t n,
                                int64_t dst_stride, int64_t src_stride) {
  if (dst_stride == 1 && src_stride == 1) {
    std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(E));
  } else if (dst_stride == 1 && src_stride == 0) {
    E value;
    put_element(&value, src);
    for (int64_t i = 0; i < n; ++i) put_element(dst + i, &value);
  } else if (dst_stride == 1 && src_stride == -1) {
    for (int64_t i = 0; i < n; ++i) put_element(dst + i, src - i);
  } else if (dst_stride == 1) {
    for (int64_t i = 0; i < n; ++i) put_element(dst + i, src + i * src_stride);
  } else {
    for (int64_t i = 0; i < n; ++i) put_element(dst + i * dst_stride, src + i * src_stride);
  }
}

// A square of 16-byte rows, transposed by log2 rounds of interleaving.
template <class E>
struct Square {
  static constexpr int64_t width = 16 / static_cast<int64_t>(sizeof(E));
  typedef E Row [[gnu::vector_size(16)]];
  typedef E Loose [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]];
  Row row[width];

  [[gnu::always_inline]] void transpose() {
    for (int64_t round = 1; round < width; round *= 2) {
      Row next[width];
      for (int64_t i = 0; i < width / 2; ++i) {
        next[2 * i] = interleave<false, width>(row[i], row[i + width / 2]);
        next[2 * i + 1] = interleave<true, width>(row[i], row[i + width / 2]);
      }
      for (int64_t i = 0; i < width; ++i) row[i] = next[i];
    }
  }
};

// dst[t * dst_stride + j] = src[j * src_stride + t]
template <class E>
[[gnu::always_inline]] inline void transpose_square(E* dst, int64_t dst_stride, const E* src,
                                                    int64_t src_stride) {
  using S = Square<E>;
  S square;
  for (int64_t j = 0; j < S::width; ++j) {
    square.row[j] = *reinterpret_cast<const typename S::Loose*>(src + j * src_stride);
  }
  square.transpose();
  for (int64_t t = 0; t < S::width; ++t) {
    *reinterpret_cast<typename S::Loose*>(dst + t * dst_stride) = square.row[t];
  }
}

template <class E>
constexpr int64_t tile_size = sizeof(E) >= 8   ? 8
                              : sizeof(E) == 1 ? 32
                                               : 16;

// A whole tile. Rows are first gathered in a buffer: when the distance between them is a power of
// two they share few sets of the cache and would evict each other.
template <class E>
[[gnu::always_inline]] inline void transpose_tile(E* dst, int64_t dst_stride, const E* src,
                                                  int64_t src_stride) {
  constexpr int64_t tile = tile_size<E>;
  E buffer[tile][tile];
  for (int64_t b = 0; b < tile; ++b)
    std::memcpy(buffer[b], src + b * src_stride, sizeof(buffer[b]));
  for (int64_t a = 0; a < tile; a += Square<E>::width) {
    for (int64_t b = 0; b < tile; b += Square<E>::width) {
      transpose_square(dst + a * dst_stride + b, dst_stride, &buffer[b][a], tile);
    }
  }
}

// A matrix by tiles; those at the edge go element by element.
template <class E>
[[gnu::noinline]] void transpose_tiles(E* dst, int64_t dst_stride, const E* src, int64_t src_stride,
                                       int64_t rows, int64_t cols) {
  constexpr int64_t tile = tile_size<E>;
  for (int64_t t = 0; t < rows; t += tile) {
    for (int64_t j = 0; j < cols; j += tile) {
      if constexpr (sizeof(E) < 16) {
        if (t + tile <= rows && j + tile <= cols) {
          transpose_tile(dst + t * dst_stride + j, dst_stride, src + j * src_stride + t,
                         src_stride);
          continue;
        }
      }
      for (int64_t a = t; a < std::min(t + tile, rows); ++a) {
        for (int64_t b = j; b < std::min(j + tile, cols); ++b) {
          put_element(dst + a * dst_stride + b, src + b * src_stride + a);
        }
      }
    }
  }
}

// Walks the indices of the outer axes of a plan and keeps the two offsets.
struct Walk {
  const CopyPlan& plan;
  int axes;
  int64_t index[max_copy_rank] = {};
  int64_t src = 0, dst = 0;

  [[gnu::always_inline]] Walk(const CopyPlan& p, int outer, int64_t at) : plan(p), axes(outer) {
    for (int k = axes - 1; k >= 0; --k) {
      index[k] = at % p.size[k];
      at /= p.size[k];
      src += index[k] * p.src_stride[k];
      dst += index[k] * p.dst_stride[k];
    }
  }

  [[gnu::always_inline]] void next() {
    for (int k = axes - 1; k >= 0; --k) {
      src += plan.src_stride[k];
      dst += plan.dst_stride[k];
      if (++index[k] < plan.size[k]) return;
      src -= plan.size[k] * plan.src_stride[k];
      dst -= plan.size[k] * plan.dst_stride[k];
      index[k] = 0;
    }
  }
};

[[gnu::always_inline]] inline int64_t count_of(const CopyPlan& p, int axes) {
  int64_t count = 1;
  for (int k = 0; k < axes; ++k) count *= p.size[k];
  return count;
}

template <class E>
void copy_rows(const CopyArgs& a) {
  const CopyPlan& p = *a.plan;
  const int inner = p.rank - 1;
  const int64_t n = p.size[inner], ds = p.dst_stride[inner], ss = p.src_stride[inner];
  const E* const src = static_cast<const E*>(a.src);
  E* const dst = static_cast<E*>(a.dst);
  if (inner == 0) {
    parallel_for(a.threads, n, copy_grain, [&](int64_t begin, int64_t end) {
      copy_row(dst + begin * ds, src + begin * ss, end - begin, ds, ss);
    });
    return;
  }
  parallel_for(a.threads, count_of(p, inner), copy_grain / (n + 1) + 1,
               [&](int64_t begin, int64_t end) {
                 Walk walk(p, inner, begin);
                 for (int64_t i = begin; i < end; ++i, walk.next()) {
                   copy_row(dst + walk.dst, src + walk.src, n, ds, ss);
                 }
               });
}

template <class E>
void copy_tiles(const CopyArgs& a) {
  const CopyPlan& p = *a.plan;
  const int t = p.rank - 2, j = p.rank - 1;
  const E* const src = static_cast<const E*>(a.src);
  E* const dst = static_cast<E*>(a.dst);
  // Work is cut into strips of 32 rows, so that one big matrix is shared by all threads.
  constexpr int64_t strip = 32;
  const int64_t strips = (p.size[t] + strip - 1) / strip;
  parallel_for(a.threads, count_of(p, t) * strips, copy_grain / (strip * p.size[j]) + 1,
               [&](int64_t begin, int64_t end) {
                 Walk walk(p, t, begin / strips);
                 for (int64_t i = begin, s = begin % strips; i < end; ++i) {
                   const int64_t row = s * strip;
                   transpose_tiles(dst + walk.dst + row * p.dst_stride[t], p.dst_stride[t],
                                   src + walk.src + row, p.src_stride[j],
                                   std::min(strip, p.size[t] - row), p.size[j]);
                   if (++s == strips) s = 0, walk.next();
                 }
               });
}

template <int bytes>
void copy_elements(const CopyArgs& a) {
  using E = typename ElementOf<bytes>::type;
  if (count_of(*a.plan, a.plan->rank) == 0) return;
  if (a.plan->tiled) {
    copy_tiles<E>(a);
  } else {
    copy_rows<E>(a);
  }
}

void copy(const CopyArgs& a) {
  switch (a.plan->element_bytes) {
    case 1:
      return copy_elements<1>(a);
    case 2:
      return copy_elements<2>(a);
    case 4:
      return copy_elements<4>(a);
    case 8:
      return copy_elements<8>(a);
    default:
      return copy_elements<16>(a);
  }
}

void fill(const FillArgs& a) {
  const CopyPlan plan{.rank = 1,
                      .element_bytes = a.element_bytes,
                      .size = {a.count},
                      .src_stride = {0},
                      .dst_stride = {1}};
  copy({&plan, a.value, a.dst, a.threads});
}

constexpr CopyRoutines copy_routines() {
  CopyRoutines routines{};
  routines = {copy, fill};
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const CopyRoutines CopyRoutines::KERATIN_LEVEL = KERATIN_LEVEL::copy_routines();
}  // namespace keratin::cpu
