#pragma once

#include "keratin/backend/cpu/levels/rnn.h"
#include "keratin/backend/cpu/levels/simd.h"
#include "keratin/backend/cpu/parallel.h"

// What lstm and gru share: the matmul of a few rows of state with packed weights, and walking
// through time.
namespace keratin::cpu::KERATIN_LEVEL {

// Rows of the batch worked on together: as many as the registers hold beside four columns.
inline constexpr int64_t rnn_rows = vector_bytes == 64 ? 6 : 3;

// Rows of the batch in a chunk, where a row takes `work` operations. Each chunk reads all weights
// in each step of time, so there is one per thread.
inline int64_t rows_per_chunk(int threads, int64_t batch, int64_t work) {
  return std::max(8192 / (work + 1) + 1, largest_grain(threads, batch));
}

// Weights in the order they are read: for each block of lanes<C> units, for each k, the vectors of
// `groups` columns. Columns past the last unit are zero.
template <class C, class Source>
[[gnu::always_inline]] inline void pack_panels(C* out, int64_t k_count, int64_t units, int groups,
                                               int threads, const Source& source) {
  constexpr int64_t width = lanes<C>;
  const int64_t blocks = (units + width - 1) / width;
  parallel_for(threads, blocks, 65536 / (k_count * groups * width + 1) + 1,
               [&](int64_t begin, int64_t end) {
                 C* to = out + begin * k_count * groups * width;
                 for (int64_t block = begin; block < end; ++block) {
                   for (int64_t k = 0; k < k_count; ++k) {
                     for (int g = 0; g < groups; ++g) {
                       for (int64_t lane = 0; lane < width; ++lane) {
                         const int64_t unit = block * width + lane;
                         *to++ = unit < units ? source(k, g, unit) : C(0);
                       }
                     }
                   }
                 }
               });
}

// acc[r][g] += sum over k of a[r * step + k] panel[k][g]
template <int rows, int groups, class C>
[[gnu::always_inline]] inline void multiply(const C* a, int64_t step, const C* panel,
                                            int64_t k_count, Vec<C> (&acc)[rows][groups]) {
  for (int64_t k = 0; k < k_count; ++k, panel += groups * lanes<C>) {
    Vec<C> column[groups];
    for (int g = 0; g < groups; ++g) column[g] = load(panel + g * lanes<C>);
    for (int r = 0; r < rows; ++r) {
      const Vec<C> value = splat(a[r * step + k]);
      for (int g = 0; g < groups; ++g) acc[r][g] = fma(value, column[g], acc[r][g]);
    }
  }
}

// Calls body(integral_constant rows, first row) for blocks of rows that cover [begin, end).
template <class F>
[[gnu::always_inline]] inline void each_row_block(int64_t begin, int64_t end, const F& body) {
  int64_t row = begin;
  for (; row + rnn_rows <= end; row += rnn_rows) {
    body(std::integral_constant<int, rnn_rows>{}, row);
  }
  if constexpr (rnn_rows > 4) {
    for (; row + 4 <= end; row += 4) body(std::integral_constant<int, 4>{}, row);
  }
  for (; row + 2 <= end; row += 2) body(std::integral_constant<int, 2>{}, row);
  for (; row < end; ++row) body(std::integral_constant<int, 1>{}, row);
}

// out[r, unit] = sum over k of a[r, k] w[unit, k], with w packed in groups of four blocks of units.
template <int rows, class C>
[[gnu::always_inline]] inline void multiply_back(const C* a, int64_t step, const C* packed,
                                                 int64_t k_count, C* out, int64_t units, bool add) {
  constexpr int64_t width = lanes<C>;
  for (int64_t first = 0; first < units; first += 4 * width) {
    Vec<C> acc[rows][4]{};
    multiply<rows, 4>(a, step, packed + first * k_count, k_count, acc);
    for (int r = 0; r < rows; ++r) {
      for (int64_t g = 0; g < 4 && first + g * width < units; ++g) {
        const Tail extent{std::min(width, units - first - g * width)};
        C* const to = out + r * units + first + g * width;
        store(to, add ? load(to, extent) + acc[r][g] : acc[r][g], extent);
      }
    }
  }
}

// Packs columns [first, first + count) of u[hidden, row_length], transposed, for multiply_back.
template <class C>
[[gnu::always_inline]] inline void pack_back(C* out, const C* u, int64_t hidden, int64_t row_length,
                                             int64_t first, int64_t count, int threads) {
  constexpr int64_t width = lanes<C>;
  const int64_t blocks = (hidden + 4 * width - 1) / (4 * width);
  parallel_for(threads, blocks, 65536 / (count * 4 * width + 1) + 1,
               [&](int64_t begin, int64_t end) {
                 C* to = out + begin * count * 4 * width;
                 for (int64_t block = begin; block < end; ++block) {
                   for (int64_t k = 0; k < count; ++k) {
                     for (int64_t lane = 0; lane < 4 * width; ++lane) {
                       const int64_t unit = block * 4 * width + lane;
                       *to++ = unit < hidden ? u[unit * row_length + first + k] : C(0);
                     }
                   }
                 }
               });
}

// Elements that panels of `count` columns of `hidden` rows take, rounded to whole blocks.
template <class C>
[[gnu::always_inline]] inline int64_t packed_size(int64_t k_count, int64_t units, int64_t groups) {
  constexpr int64_t width = 4 * lanes<C>;
  return (units + width - 1) / width * width * k_count * groups;
}

[[gnu::always_inline]] inline int64_t time_of(const RnnShape& s, int64_t step) {
  return s.reverse ? s.time - 1 - step : step;
}

[[gnu::always_inline]] inline bool taken(const bool* mask, const RnnShape& s, int64_t row,
                                         int64_t t) {
  return !mask || mask[row * s.time + t];
}

// Calls body(first, last) for the stretches of rows in [begin, end) that take the step.
template <class F>
[[gnu::always_inline]] inline void each_taken(const bool* mask, const RnnShape& s, int64_t begin,
                                              int64_t end, int64_t t, const F& body) {
  for (int64_t first = begin; first < end;) {
    int64_t last = first;
    while (last < end && taken(mask, s, last, t)) ++last;
    if (last > first) body(first, last);
    first = last + 1;
  }
}

// The output of a masked step: what the step before gave, at first zero.
template <class C>
[[gnu::always_inline]] inline void repeat_output(C* y, const RnnShape& s, int64_t row,
                                                 int64_t step) {
  C* const to = y + (row * s.time + time_of(s, step)) * s.hidden;
  if (s.zero_masked || step == 0) {
    std::fill_n(to, s.hidden, C(0));
  } else {
    std::copy_n(y + (row * s.time + time_of(s, step - 1)) * s.hidden, s.hidden, to);
  }
}

template <class C>
[[gnu::always_inline]] inline void copy_or_zero(const C* from, C* to, int64_t n) {
  if (from) {
    std::copy_n(from, n, to);
  } else {
    std::fill_n(to, n, C(0));
  }
}

}  // namespace keratin::cpu::KERATIN_LEVEL
