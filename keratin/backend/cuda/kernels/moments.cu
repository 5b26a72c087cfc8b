// Mean and variance of each column of a matrix, in one pass: sums of each element's difference from
// the first of its column, and of the squares of these. They are about as large as the column
// varies, so that the difference of the two sums keeps its digits.
#pragma once

namespace keratin::moments {

// The numbers that a kernel is compiled for; written by rows/moments.cpp.
struct Layout {
  int64_t rows, columns;
  int pack, width, height;  // columns of a thread; threads along a row; rows of a block at a time
  int64_t chunk, chunks;    // rows of a block, blocks along a column
};

// Writes the sums of this block's rows to partial[chunk][2][columns].
template <Layout l, class Index, class T>
void sum_chunk(const T* x, compute_t<T>* partial) {
  using C = compute_t<T>;
  using Columns = Pack<T, l.pack>;
  constexpr int across = l.width * l.pack;
  constexpr Index columns = l.columns;
  __shared__ C sums[l.height][across], squares[l.height][across];
  const Index column = (blockIdx.x * Index(l.width) + threadIdx.x) * Index(l.pack),
              begin = blockIdx.y * Index(l.chunk), end = min(begin + Index(l.chunk), Index(l.rows));
  C first[l.pack], sum[l.pack] = {}, square[l.pack] = {};
  if (column < (l.rows > 0 ? columns : Index(0))) {
    const Columns top = *reinterpret_cast<const Columns*>(x + column);
    for (int k = 0; k < l.pack; ++k) first[k] = load(top.items[k]);
#pragma unroll 4
    for (Index r = begin + threadIdx.y; r < end; r += l.height) {
      const Columns row = *reinterpret_cast<const Columns*>(x + r * columns + column);
      for (int k = 0; k < l.pack; ++k) {
        const C off = load(row.items[k]) - first[k];
        sum[k] += off;
        square[k] = fma(off, off, square[k]);
      }
    }
  }
  for (int k = 0; k < l.pack; ++k) {
    sums[threadIdx.y][threadIdx.x * l.pack + k] = sum[k];
    squares[threadIdx.y][threadIdx.x * l.pack + k] = square[k];
  }
  __syncthreads();
  const int own = threadIdx.y * l.width + threadIdx.x, into = blockIdx.x * across + own;
  if (own < across && into < l.columns) {
    C s = 0, q = 0;
    for (int y = 0; y < l.height; ++y) s += sums[y][own], q += squares[y][own];
    partial[blockIdx.y * (2 * columns) + into] = s;
    partial[blockIdx.y * (2 * columns) + columns + into] = q;
  }
}

// Joins the chunks: `lanes` threads for each of `width` columns of a block.
template <Layout l, int lanes, int width, class Index, class T>
void finish(const T* x, const compute_t<T>* partial, compute_t<T>* mean, compute_t<T>* variance) {
  using C = compute_t<T>;
  constexpr Index columns = l.columns;
  __shared__ C shared[width * lanes];
  const Index column = blockIdx.x * Index(width) + threadIdx.x;
  C s = 0, q = 0;
  if (column < columns)
#pragma unroll 8
    for (Index chunk = threadIdx.y; chunk < l.chunks; chunk += lanes) {
      s += partial[chunk * (2 * columns) + column];
      q += partial[chunk * (2 * columns) + columns + column];
    }
  s = combine<scalar::Add, lanes, width>(s, shared, threadIdx.y, threadIdx.x);
  q = combine<scalar::Add, lanes, width>(q, shared, threadIdx.y, threadIdx.x);
  if (threadIdx.y > 0 || column >= columns) return;
  const C off = s / C(l.rows), spread = q / C(l.rows) - off * off;
  if (mean != nullptr) mean[column] = l.rows > 0 ? load(x[column]) + off : off;
  if (variance != nullptr) variance[column] = spread < 0 ? C(0) : spread;
}

}  // namespace keratin::moments
