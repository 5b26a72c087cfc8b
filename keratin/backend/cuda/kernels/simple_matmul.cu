// Matmuls without tiles, and what libraries read besides factors.
#pragma once

namespace keratin::simple {

// Written by matmul/simple_matmul.cpp.
struct Sizes {
  int64_t rows, columns, depth;
  bool transpose_a, transpose_b;

  // The element of the left factor in row r and column k, and of the right one in k and c.
  template <class Index>
  constexpr Index left(Index r, Index k) const {
    return transpose_a ? k * Index(rows) + r : r * Index(depth) + k;
  }
  template <class Index>
  constexpr Index right(Index k, Index c) const {
    return transpose_b ? c * Index(depth) + k : k * Index(columns) + c;
  }
};

// One thread per element, for any type. `batch_of_a` gives the matrix of a for one of the result.
template <Sizes s, class Index, class T, class OfA, class OfB>
void by_element(Index count, const T* a, const T* b, T* y, OfA batch_of_a, OfB batch_of_b) {
  constexpr Index rows = divisor(s.rows), columns = divisor(s.columns);
  for_each_element(count, [&](Index i) {
    const Index c = i % columns, r = i / columns % rows, batch = i / (columns * rows);
    const T* left = a + batch_of_a(batch) * Index(s.rows * s.depth);
    const T* right = b + batch_of_b(batch) * Index(s.depth * s.columns);
    compute_t<T> total = 0;
    for (Index k = 0; k < Index(s.depth); ++k)
      total =
          scalar::Add{}(total, scalar::Mul{}(load(left[s.left(r, k)]), load(right[s.right(k, c)])));
    y[i] = T(total);
  });
}

// Factors of little depth: one thread per element of y = finished(a · b, row, column).
template <Sizes s, class Index, class T, class Finished>
void shallow(Index count, const T* a, const T* b, T* y, Finished finished) {
  constexpr Index columns = s.columns;
  for_each_element(count, [&](Index i) {
    const Index c = i % columns, r = i / columns;
    compute_t<T> total = 0;
#pragma unroll
    for (Index k = 0; k < Index(s.depth); ++k)
      total = fma(load(a[s.left(r, k)]), load(b[s.right(k, c)]), total);
    y[i] = T(finished(total, r, c));
  });
}

// Few columns: one warp per row, whose threads share the sums of all columns.
template <Sizes s, class Index, class T, class Finished>
void narrow(const T* a, const T* b, T* y, Finished finished) {
  constexpr int warp = 32;
  const Index r = blockIdx.x * Index(block_size / warp) + threadIdx.x / warp,
              lane = threadIdx.x % warp;
  if (r >= Index(s.rows)) return;
  compute_t<T> totals[s.columns] = {};
#pragma unroll 4
  for (Index k = lane; k < Index(s.depth); k += warp) {
    const compute_t<T> left = load(a[s.left(r, k)]);
#pragma unroll
    for (Index c = 0; c < Index(s.columns); ++c)
      totals[c] = fma(left, load(b[s.right(k, c)]), totals[c]);
  }
#pragma unroll
  for (Index c = 0; c < Index(s.columns); ++c) {
    compute_t<T> total = totals[c];
    for (int half = warp / 2; half > 0; half /= 2) total += __shfl_down_sync(~0u, total, half);
    if (lane == 0) y[r * Index(s.columns) + c] = T(finished(total, r, c));
  }
}

// A bit for each positive element of x, `stride` bits for each of its rows; by whole warps.
template <int64_t columns, int64_t stride, class Index, class T>
void positive_bits(Index count, const T* x, unsigned* bits) {
  for_each_element(count, [&](Index i) {
    const Index c = i % Index(stride), r = i / Index(stride);
    const bool on = c < Index(columns) && load(x[r * Index(columns) + c]) > 0;
    const unsigned word = __ballot_sync(~0u, on);
    if (c % 32 == 0) bits[i / 32] = word;
  });
}

template <int64_t rows, int64_t columns, class Index, class T>
void transpose(Index count, const T* x, T* y) {
  for_each_element(count,
                   [&](Index i) { y[i] = x[i % Index(rows) * Index(columns) + i / Index(rows)]; });
}

}  // namespace keratin::simple
