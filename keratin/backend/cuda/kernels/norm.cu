// Normalisation of rows and its gradient; ops/norm.h says what is computed.
#pragma once

#include "keratin/backend/cuda/kernels/rows.cu"

namespace keratin::rows {

// y = (x - mean) · rstd · scale + offset; a row without `centred` has mean 0.
template <class L, bool centred, class T>
void norm(int64_t count, compute_t<T> epsilon, const T* x, const T* scale, const T* offset, T* y,
          compute_t<T>* means, compute_t<T>* rstds) {
  using C = compute_t<T>;
  Share<L, C> factor, more;  // loaded at the same time as the first row
  if (scale != nullptr) factor = load_row<L>(scale);
  if (offset != nullptr) more = load_row<L>(offset);
  each_row<L>(count, [&](int64_t row, bool there) {
    auto share = load_row<L>(x + row * L::columns);
    C mean = 0;
    if constexpr (centred) {
      mean = sum<L, C>([&](int r, int e, int) { return share.v[r][e]; }) / L::columns;
      each<L>([&](int r, int e, int) { share.v[r][e] -= mean; });
    }
    const C variance =
        sum<L, C>([&](int r, int e, int) { return share.v[r][e] * share.v[r][e]; }) / L::columns;
    const C rstd = scalar::Rsqrt{}(variance + epsilon);
    if (!there) return;
    if (threadIdx.x == 0) {
      if (means != nullptr) means[row] = mean;
      if (rstds != nullptr) rstds[row] = rstd;
    }
    if (y == nullptr) return;
    each<L>([&](int r, int e, int) { share.v[r][e] *= rstd; });
    if (scale != nullptr) each<L>([&](int r, int e, int) { share.v[r][e] *= factor.v[r][e]; });
    if (offset != nullptr) each<L>([&](int r, int e, int) { share.v[r][e] += more.v[r][e]; });
    store_row<L>(y + row * L::columns, [&](int r, int e, int) { return share.v[r][e]; });
  });
}

// With g = dy · scale and h = (x - mean) · rstd: dx = rstd · (g - mean g - h · mean(g · h)). Each
// block's sums of dscale = Σ dy · h and doffset = Σ dy go to partial[2][block][columns].
template <class L, bool centred, class T>
void norm_grad(int64_t count, const T* x, const compute_t<T>* means, const compute_t<T>* rstds,
               const T* dy, const T* scale, T* dx, compute_t<T>* partial) {
  using C = compute_t<T>;
  Share<L, C> dscale = {}, doffset = {};
  each_row<L>(count, [&](int64_t row, bool there) {
    auto h = load_row<L>(x + row * L::columns), g = load_row<L>(dy + row * L::columns);
    const C mean = centred ? means[row] : C(0), rstd = rstds[row];
    each<L>([&](int r, int e, int) {
      h.v[r][e] = (h.v[r][e] - mean) * rstd;
      if (there) {
        dscale.v[r][e] += g.v[r][e] * h.v[r][e];
        doffset.v[r][e] += g.v[r][e];
      }
    });
    if (scale != nullptr) {
      const auto factor = load_row<L>(scale);
      each<L>([&](int r, int e, int) { g.v[r][e] *= factor.v[r][e]; });
    }
    C mean_g = 0;
    if constexpr (centred)
      mean_g = sum<L, C>([&](int r, int e, int) { return g.v[r][e]; }) / L::columns;
    const C mean_gh =
        sum<L, C>([&](int r, int e, int) { return g.v[r][e] * h.v[r][e]; }) / L::columns;
    if (there && dx != nullptr)
      store_row<L>(dx + row * L::columns, [&](int r, int e, int) {
        return rstd * (g.v[r][e] - mean_g - h.v[r][e] * mean_gh);
      });
  });
  const auto put = [&](int kind, int column, C total) {
    partial[(kind * int64_t(gridDim.x) + blockIdx.x) * L::columns + column] = total;
  };
  if constexpr (L::teams == 1) {
    each<L>([&](int r, int e, int column) {
      put(0, column, dscale.v[r][e]);
      put(1, column, doffset.v[r][e]);
    });
  } else {  // one after the other
    __shared__ C sums[2][L::columns];
    for (int team = 0; team < L::teams; ++team) {
      if (threadIdx.y == team)
        each<L>([&](int r, int e, int column) {
          sums[0][column] = (team > 0 ? sums[0][column] : C(0)) + dscale.v[r][e];
          sums[1][column] = (team > 0 ? sums[1][column] : C(0)) + doffset.v[r][e];
        });
      __syncthreads();
    }
    for (int i = threadIdx.y * L::lanes + threadIdx.x; i < 2 * L::columns; i += L::lanes * L::teams)
      put(i / L::columns, i % L::columns, sums[i / L::columns][i % L::columns]);
  }
}

// Adds up the sums of `blocks` blocks: each block has 32 columns of one kind, 8 threads for each.
template <int columns, int blocks, class T, class C>
void norm_grad_finish(const C* partial, T* dscale, T* doffset) {
  T* const out = blockIdx.y == 0 ? dscale : doffset;
  const int column = blockIdx.x * 32 + threadIdx.x;
  C total = 0;
  if (column < columns)
    for (int block = threadIdx.y; block < blocks; block += 8)
      total += partial[(blockIdx.y * int64_t(blocks) + block) * columns + column];
  __shared__ C sums[32 * 8];
  total = combine<scalar::Add, 8, 32>(total, sums, threadIdx.y, threadIdx.x);
  if (column < columns && threadIdx.y == 0 && out != nullptr) out[column] = T(total);
}

}  // namespace keratin::rows
