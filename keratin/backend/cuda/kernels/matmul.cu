// A matmul of f32 by tensor cores (TF32) that is too small for the tiles of libraries to fill a
// GPU: the blocks of a cluster share the depth of one tile, and add up their sums in each other's
// shared memory, in a fixed order.
#pragma once

#include "keratin/backend/cuda/kernels/tiles.cu"

namespace keratin::matmul {

// Written by matmul/tiled_matmul.cpp.
struct Sizes {
  int rows, columns, depth;
  bool transpose_a, transpose_b;
};
struct Tiling {
  int rows, columns, splits;  // of a tile; the blocks that share its depth
};

constexpr int step = 32, stages = 4;  // depth of a step; steps that are loaded ahead
constexpr int side = 32;              // of a warp's square of a tile

// Starts to copy 16 bytes to shared memory, or zeros.
inline void fetch(float* to, const float* from, bool there) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(unsigned(__cvta_generic_to_shared(to))),
      "l"(from), "r"(there ? 16 : 0)
      : "memory");
}
inline void end_of_fetches() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for all groups but the `last` ones.
template <int last>
void wait_for_fetches() {
  asm volatile("cp.async.wait_group %0;" ::"n"(last) : "memory");
}

// Tensor cores truncate to TF32. Scaled by this factor before, truncation is nearly rounding: off
// by at most 0.7 of the last bit, up as often as down. Rounding itself takes three instructions for
// each number.
inline float before_truncation(float x) { return x * 1.00033845f; }

// Loads four squares of 8 rows and 4 columns: a thread passes the address of one row of one square,
// and gets its number of each.
inline void load_squares(float (&to)[4], const float* from) {
  unsigned words[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(unsigned(__cvta_generic_to_shared(from))));
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i] = before_truncation(__uint_as_float(words[i]));
}

// `step` columns of `across` rows of the left factor, or of the right one's transpose, in the order
// of memory: `along` means that numbers that are added up are neighbours. Rows begin in different
// banks.
template <int across, bool along, int threads, int all_rows, int depth>
struct Stage {
  static constexpr int lines = along ? across : step, length = along ? step : across;
  static constexpr int stride = length + (along ? 4 : 8), size = lines * stride;

  // Loads from row `first` and column k.
  static void load(float* to, const float* from, int first, int k) {
#pragma unroll
    for (int turn = 0; turn < lines * length / 4 / threads; ++turn) {
      const int i = turn * threads + threadIdx.x;
      const int line = i / (length / 4), at = i % (length / 4) * 4;
      const int row = first + (along ? line : at), column = k + (along ? at : line);
      const bool there =
          (all_rows % across == 0 || row < all_rows) && (depth % step == 0 || column < depth);
      const int64_t element =
          along ? int64_t(row) * depth + column : int64_t(column) * all_rows + row;
      fetch(to + line * stride + at, from + (there ? element : 0), there);
    }
  }

  // A thread's share of 32 rows and 8 columns: rows `row_of` 0 to 3, columns `pair` and `pair` + 4.
  // Any four rows will do, as long as results are stored accordingly; neighbours are loaded
  // together.
  static int row_of(int i, int line) { return along ? 8 * i + line : 4 * line + i; }
  static void get(float (&numbers)[4][2], const float* m, int row, int k) {
    const tiles::Lane lane;
    if constexpr (along) {
      const int who = threadIdx.x % 32;
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        float squares[4];  // rows and columns: 8 i, k; 8 i, k + 4; 8 i + 8, k; 8 i + 8, k + 4
        load_squares(squares,
                     m + (row + 8 * i + who / 16 * 8 + who % 8) * stride + k + who / 8 % 2 * 4);
#pragma unroll
        for (int e = 0; e < 4; ++e) numbers[i + e / 2][e % 2] = squares[e];
      }
    } else {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const auto four = *reinterpret_cast<const Pack<float, 4>*>(
            m + (k + lane.pair + 4 * half) * stride + row + 4 * lane.line);
#pragma unroll
        for (int i = 0; i < 4; ++i) numbers[i][half] = before_truncation(four.items[i]);
      }
    }
  }
};

// Waits until all blocks of the cluster are here; each sees what the others wrote.
template <int splits>
void meet() {
  if constexpr (splits == 1)
    __syncthreads();
  else
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
}

// Waits until all blocks have read.
inline void meet_again() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::
                   : "memory");
}

// A number in the shared memory of block `split` of the cluster.
template <int splits>
float there(const float* m, int split) {
  if constexpr (splits == 1) {
    return *m;
  } else {
    float value;
    asm volatile(
        "{\n.reg .u32 at;\nmapa.shared::cluster.u32 at, %1, %2;\nld.shared::cluster.f32 %0, "
        "[at];\n}"
        : "=f"(value)
        : "r"(unsigned(__cvta_generic_to_shared(m))), "r"(split)
        : "memory");
    return value;
  }
}

template <Sizes s, Tiling t>
struct Matmul {
  static constexpr int warps_across = t.columns / side,
                       threads = 32 * warps_across * (t.rows / side);
  using Left = Stage<t.rows, !s.transpose_a, threads, s.rows, s.depth>;
  using Right = Stage<t.columns, s.transpose_b, threads, s.columns, s.depth>;
  static constexpr int across = (s.columns + t.columns - 1) / t.columns;
  static constexpr int steps = (s.depth + step - 1) / step,
                       each = (steps + t.splits - 1) / t.splits;

  float* const memory;
  const int split = blockIdx.x % t.splits, tile = blockIdx.x / t.splits;
  const int row = tile / across * t.rows, column = tile % across * t.columns;
  const int first = split * each,
            count = min(each, steps - first);  // steps of this split; some have none
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / warps_across * side, warp_column = warp % warps_across * side;

  float* left(int i) const { return memory + i % stages * (Left::size + Right::size); }
  float* right(int i) const { return left(i) + Left::size; }

  void load(const float* a, const float* b, int i) const {
    const int k = (first + i) * step;
    if (i < count) {
      Left::load(left(i), a, row, k);
      Right::load(right(i), b, column, k);
    }
    end_of_fetches();
  }

  // The sums of a thread: by 16 rows, by 8 columns, and in the order of one instruction.
  using Sums = float[2][4][4];

  void add(Sums& sums, int i) const {
#pragma unroll
    for (int k = 0; k < step; k += 8) {
      float as[4][2], bs[4][2];
      Left::get(as, left(i), warp_row, k);
      Right::get(bs, right(i), warp_column, k);
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int n = 0; n < 4; ++n)
          tiles::multiply_tf32(
              sums[m][n], {as[2 * m][0], as[2 * m + 1][0], as[2 * m][1], as[2 * m + 1][1]}, bs[n]);
    }
  }

  // All sums of the block, in shared memory that is no longer read.
  static constexpr int stride = t.columns + 4;
  void store(const Sums& sums) const {
    const tiles::Lane lane;
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float* to =
            memory + (warp_row + Left::row_of(2 * m + e / 2, lane.line)) * stride + warp_column;
#pragma unroll
        for (int n = 0; n < 4; ++n) to[Right::row_of(n, 2 * lane.pair + e % 2)] = sums[m][n][e];
      }
  }

  // Each block finishes its share of the tile's rows.
  template <class Finish>
  void finish(const Finish& finish) const {
    constexpr int share = t.rows / t.splits;
#pragma unroll
    for (int turn = 0; turn < share * t.columns / threads; ++turn) {
      const int i = turn * threads + threadIdx.x;
      const int at_row = split * share + i / t.columns, at_column = i % t.columns;
      float total = 0;
#pragma unroll
      for (int p = 0; p < t.splits; ++p)
        total += there<t.splits>(memory + at_row * stride + at_column, p);
      if (row + at_row < s.rows && column + at_column < s.columns)
        finish(row + at_row, column + at_column, total);
    }
  }

  template <class Finish>
  void run(const float* a, const float* b, const Finish& finish_one) const {
    Sums sums = {};
#pragma unroll
    for (int i = 0; i < stages - 1; ++i) load(a, b, i);
    for (int i = 0; i < count; ++i) {
      wait_for_fetches<stages - 2>();
      __syncthreads();
      load(a, b, i + stages - 1);
      add(sums, i);
    }
    wait_for_fetches<0>();
    __syncthreads();
    store(sums);
    meet<t.splits>();
    finish(finish_one);
    if constexpr (t.splits > 1) meet_again();  // a block stays while others read its memory
  }
};

}  // namespace keratin::matmul
