// Kernels that need a whole row: it is read once, kept in registers, and written once. A row's
// threads are neighbours: a fraction of a warp, a warp, or a block.
#pragma once

namespace keratin::rows {

// How threads share a row: each takes `pack` neighbouring columns, then those `lanes` packs
// further.
template <int columns_, int lanes_, int pack_, int teams_>
struct Layout {
  static constexpr int columns = columns_, lanes = lanes_, pack = pack_;
  static constexpr int teams = teams_;  // rows of a block at a time
  static constexpr int rounds = (columns + lanes * pack - 1) / (lanes * pack);
};

// A thread's share of a row.
template <class L, class C>
struct Share {
  C v[L::rounds][L::pack];
};

// Calls f(round, e, column) for the columns of this thread that exist.
template <class L, class F>
void each(F f) {
#pragma unroll
  for (int r = 0; r < L::rounds; ++r) {
    const int column = (r * L::lanes + int(threadIdx.x)) * L::pack;
    if (L::columns % (L::lanes * L::pack) != 0 && column >= L::columns) continue;
#pragma unroll
    for (int e = 0; e < L::pack; ++e) f(r, e, column + e);
  }
}

template <class L, class T>
Share<L, compute_t<T>> load_row(const T* row) {
  Share<L, compute_t<T>> share;
#pragma unroll
  for (int r = 0; r < L::rounds; ++r) {
    const int column = (r * L::lanes + int(threadIdx.x)) * L::pack;
    if (L::columns % (L::lanes * L::pack) != 0 && column >= L::columns) continue;
    const auto pack = *reinterpret_cast<const Pack<T, L::pack>*>(row + column);
#pragma unroll
    for (int e = 0; e < L::pack; ++e) share.v[r][e] = load(pack.items[e]);
  }
  return share;
}

// Writes f(round, e, column).
template <class L, class T, class F>
void store_row(T* row, F f) {
#pragma unroll
  for (int r = 0; r < L::rounds; ++r) {
    const int column = (r * L::lanes + int(threadIdx.x)) * L::pack;
    if (L::columns % (L::lanes * L::pack) != 0 && column >= L::columns) continue;
    Pack<T, L::pack> pack;
#pragma unroll
    for (int e = 0; e < L::pack; ++e) pack.items[e] = T(f(r, e, column + e));
    *reinterpret_cast<Pack<T, L::pack>*>(row + column) = pack;
  }
}

// Combines the values of a row's threads, always in the same order; all of them get the result.
template <class L, class Combine, class C>
C over_threads(C value) {
#pragma unroll
  for (int apart = min(L::lanes, 32) / 2; apart > 0; apart /= 2)
    value = Combine{}(value, __shfl_xor_sync(~0u, value, apart));
  if constexpr (L::lanes > 32) {
    __shared__ C warps[L::lanes / 32];
    __syncthreads();  // others may still read the values before
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = warps[0];
    for (int w = 1; w < L::lanes / 32; ++w) value = Combine{}(value, warps[w]);
  }
  return value;
}

// Σ f(round, e, column) over the row, and the largest of them.
template <class L, class C, class F>
C sum(F f) {
  C total = 0;
  each<L>([&](int r, int e, int column) { total += f(r, e, column); });
  return over_threads<L, scalar::Add>(total);
}
template <class L, class C, class F>
C largest(F f) {
  C peak = start_of<C>(scalar::Maximum{});
  each<L>([&](int r, int e, int column) { peak = scalar::Maximum{}(peak, f(r, e, column)); });
  return over_threads<L, scalar::Maximum>(peak);
}

// Calls f(row, there) for the rows of this thread. Without a row of its own (`there` is false), it
// computes the last row and writes nothing: threads that exchange values stay together.
template <class L, class F>
void each_row(int64_t count, F f) {
  for (int64_t first = blockIdx.x * int64_t(L::teams); first < count;
       first += gridDim.x * int64_t(L::teams)) {
    const int64_t row = first + threadIdx.y;
    f(min(row, count - 1), row < count);
  }
}

// y = exp(x - max x) / Σ exp(x - max x)
template <class L, class T>
void softmax(int64_t count, const T* x, T* y) {
  using C = compute_t<T>;
  each_row<L>(count, [&](int64_t row, bool there) {
    auto share = load_row<L>(x + row * L::columns);
    const C peak = largest<L, C>([&](int r, int e, int) { return share.v[r][e]; });
    each<L>([&](int r, int e, int) { share.v[r][e] = scalar::Exp{}(share.v[r][e] - peak); });
    const C total = sum<L, C>([&](int r, int e, int) { return share.v[r][e]; });
    if (there)
      store_row<L>(y + row * L::columns, [&](int r, int e, int) { return share.v[r][e] / total; });
  });
}

// dx = y · (dy - Σ dy · y)
template <class L, class T>
void softmax_grad(int64_t count, const T* y, const T* dy, T* dx) {
  using C = compute_t<T>;
  each_row<L>(count, [&](int64_t row, bool there) {
    const auto a = load_row<L>(y + row * L::columns), b = load_row<L>(dy + row * L::columns);
    const C total = sum<L, C>([&](int r, int e, int) { return a.v[r][e] * b.v[r][e]; });
    if (there)
      store_row<L>(dx + row * L::columns,
                   [&](int r, int e, int) { return a.v[r][e] * (b.v[r][e] - total); });
  });
}

// y = x - max x - log Σ exp(x - max x)
template <class L, class T>
void log_softmax(int64_t count, const T* x, T* y) {
  using C = compute_t<T>;
  each_row<L>(count, [&](int64_t row, bool there) {
    const auto share = load_row<L>(x + row * L::columns);
    const C peak = largest<L, C>([&](int r, int e, int) { return share.v[r][e]; });
    const C total = scalar::Log{}(
        sum<L, C>([&](int r, int e, int) { return scalar::Exp{}(share.v[r][e] - peak); }));
    if (there)
      store_row<L>(y + row * L::columns,
                   [&](int r, int e, int) { return share.v[r][e] - peak - total; });
  });
}

// dx = dy - exp(y) · Σ dy
template <class L, class T>
void log_softmax_grad(int64_t count, const T* y, const T* dy, T* dx) {
  using C = compute_t<T>;
  each_row<L>(count, [&](int64_t row, bool there) {
    const auto a = load_row<L>(y + row * L::columns), b = load_row<L>(dy + row * L::columns);
    const C total = sum<L, C>([&](int r, int e, int) { return b.v[r][e]; });
    if (there)
      store_row<L>(dx + row * L::columns,
                   [&](int r, int e, int) { return b.v[r][e] - scalar::Exp{}(a.v[r][e]) * total; });
  });
}

template <class Label>
bool is_class(Label label, int64_t classes) {
  return label >= 0 && int64_t(label) < classes;
}

// loss = log_sum - x[label], or 0 where the label is no class; log_sum = log Σ exp(x)
template <class L, class T, class Label>
void sparse_softmax_cross_entropy(int64_t count, const T* x, const Label* labels, T* loss,
                                  T* log_sum) {
  using C = compute_t<T>;
  each_row<L>(count, [&](int64_t row, bool there) {
    const auto share = load_row<L>(x + row * L::columns);
    C peak = largest<L, C>([&](int r, int e, int) { return share.v[r][e]; });
    if (!scalar::IsFinite{}(peak)) peak = 0;
    const C total = scalar::Log{}(sum<L, C>(
                        [&](int r, int e, int) { return scalar::Exp{}(share.v[r][e] - peak); })) +
                    peak;
    if (!there || threadIdx.x != 0) return;
    const Label label = labels[row];
    if (log_sum != nullptr) log_sum[row] = T(total);
    if (loss != nullptr)
      loss[row] = T(is_class(label, L::columns) ? total - load(x[row * L::columns + label]) : C(0));
  });
}

// dx = dy · (exp(x - log_sum) - onehot(label)), or 0 where the label is no class
template <class L, class T, class Label>
void sparse_softmax_cross_entropy_grad(int64_t count, const T* x, const Label* labels,
                                       const T* log_sum, const T* dy, T* dx) {
  using C = compute_t<T>;
  each_row<L>(count, [&](int64_t row, bool there) {
    const auto share = load_row<L>(x + row * L::columns);
    const Label label = labels[row];
    const bool hit = is_class(label, L::columns);
    const C total = load(log_sum[row]), slope = load(dy[row]);
    if (there)
      store_row<L>(dx + row * L::columns, [&](int r, int e, int column) {
        const C distance = scalar::Exp{}(share.v[r][e] - total) - C(column == int64_t(label));
        return hit ? slope * distance : C(0);
      });
  });
}

}  // namespace keratin::rows
