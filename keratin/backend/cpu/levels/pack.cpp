#include "keratin/backend/cpu/levels/pack.h"

#include <algorithm>
#include <utility>

#include "keratin/backend/cpu/levels/simd.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

template <class C>
[[gnu::always_inline]] inline void fill_zero(C* to, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) to[i] = C(0);
}

template <class T>
void copy_rows(const PackArgs& args) {
  using C = compute_t<T>;
  for (int64_t r = 0; r < args.rows; ++r) {
    const T* from = static_cast<const T*>(args.from) + r * args.row_step;
    C* to = static_cast<C*>(args.to) + r * args.width;
    each_vector<T>(args.columns,
                   [&](int64_t i, auto extent) { store(to + i, load(from + i, extent), extent); });
    fill_zero(to, args.columns, args.filled);
  }
}

// Interleaving row i with row i + n/2 is one perfect shuffle; log2(n) of them transpose n x n.
template <class C>
[[gnu::always_inline]] inline void transpose_square(Vec<C> (&rows)[lanes<C>]) {
  constexpr int64_t n = lanes<C>;
#pragma GCC unroll 4
  for (int64_t stage = 1; stage < n; stage *= 2) {
    Vec<C> next[n];
#pragma GCC unroll 8
    for (int64_t i = 0; i < n / 2; ++i) {
      next[2 * i] = interleave<false, n>(rows[i], rows[i + n / 2]);
      next[2 * i + 1] = interleave<true, n>(rows[i], rows[i + n / 2]);
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < n; ++i) rows[i] = next[i];
  }
}

// A square of the matrix, whose columns are contiguous; the rest of one is filled up with zeros.
template <class T, class Down, class Across>
[[gnu::always_inline]] inline void transpose_block(const T* from, compute_t<T>* to,
                                                   const PackArgs& args, Down down, int64_t rows,
                                                   Across across, int64_t columns) {
  using C = compute_t<T>;
  constexpr int64_t n = lanes<C>;
  Vec<C> square[n];
#pragma GCC unroll 16
  for (int64_t c = 0; c < n; ++c) {
    square[c] = c < columns ? load(from + c * args.column_step, down, C(0)) : Vec<C>{};
  }
  transpose_square<C>(square);
#pragma GCC unroll 16
  for (int64_t r = 0; r < n; ++r) {
    if (r < rows) store(to + r * args.width, square[r], across);
  }
}

template <class T>
void copy_transposed(const PackArgs& args) {
  using C = compute_t<T>;
  constexpr int64_t n = lanes<C>;
  for (int64_t c = 0; c < args.filled; c += n) {
    const int64_t columns = std::clamp<int64_t>(args.columns - c, 0, n);
    const int64_t room = std::min(args.filled - c, n);
    for (int64_t r = 0; r < args.rows; r += n) {
      const int64_t rows = std::min(args.rows - r, n);
      const T* from = static_cast<const T*>(args.from) + c * args.column_step + r;
      C* to = static_cast<C*>(args.to) + r * args.width + c;
      if (rows == n && room == n && columns == n) {
        transpose_block<T>(from, to, args, Full{}, n, Full{}, n);
      } else {
        transpose_block<T>(from, to, args, Tail{rows}, rows, Tail{room}, columns);
      }
    }
  }
}

template <class T>
void pack(const PackArgs& args) {
  if (args.column_step == 1) {
    copy_rows<T>(args);
  } else {
    copy_transposed<T>(args);
  }
}

template <class T>
void unpack(const UnpackArgs& args) {
  using C = compute_t<T>;
  for (int64_t r = 0; r < args.rows; ++r) {
    const C* from = static_cast<const C*>(args.from) + r * args.width;
    T* to = static_cast<T*>(args.to) + r * args.row_step;
    each_vector<T>(args.columns,
                   [&](int64_t i, auto extent) { store(to + i, load(from + i, extent), extent); });
  }
}

constexpr PackRoutines pack_routines() {
  PackRoutines routines{};
  set_floats(routines.pack, []<class T>(TypeTag<T>) { return &pack<T>; });
  set_floats(routines.unpack, []<class T>(TypeTag<T>) { return &unpack<T>; });
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const PackRoutines PackRoutines::KERATIN_LEVEL = KERATIN_LEVEL::pack_routines();
}  // namespace keratin::cpu
