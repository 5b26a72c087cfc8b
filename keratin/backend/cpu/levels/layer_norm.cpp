#include <cmath>

#include "keratin/backend/cpu/levels/norm.h"
#include "keratin/backend/cpu/levels/rows.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t layer_norm_grain = 8192;

template <class C>
struct RowStats {
  C mean, rstd;
};

// Two passes over a row that is in cache by then: no cancellation.
template <class T, bool centred>
[[gnu::always_inline]] inline RowStats<compute_t<T>> row_stats(const T* x, int64_t n,
                                                               double epsilon) {
  using C = compute_t<T>;
  C mean = 0;
  if constexpr (centred) {
    mean = row_sum<T>(n, [&](int64_t i, auto extent) { return load(x + i, extent); }) /
           static_cast<C>(n);
  }
  const C squares = row_sum<T>(n, [&](int64_t i, auto extent) {
    const Vec<C> d = load(x + i, extent, mean) - mean;
    return d * d;
  });
  return {mean, 1 / std::sqrt(squares / static_cast<C>(n) + static_cast<C>(epsilon))};
}

template <class T, bool centred, bool scaled, bool shifted>
[[gnu::noinline]] void norm_row(const T* x, const T* gamma, const T* beta, T* y, int64_t n,
                                double epsilon, RowStats<compute_t<T>>& stats) {
  using C = compute_t<T>;
  stats = row_stats<T, centred>(x, n, epsilon);
  if (!y) return;  // only the statistics are wanted
  each_vector<T>(n, [&](int64_t i, auto extent) {
    Vec<C> v = (load(x + i, extent) - stats.mean) * stats.rstd;
    if constexpr (scaled) v *= load(gamma + i, extent);
    if constexpr (shifted) v += load(beta + i, extent);
    store(y + i, v, extent);
  });
}

template <class T, bool centred>
void layer_norm(const LayerNormArgs& a) {
  using C = compute_t<T>;
  const T* const gamma = static_cast<const T*>(a.gamma);
  const T* const beta = static_cast<const T*>(a.beta);
  const auto row =
      gamma ? (beta ? norm_row<T, centred, true, true> : norm_row<T, centred, true, false>)
            : (beta ? norm_row<T, centred, false, true> : norm_row<T, centred, false, false>);
  parallel_for(a.threads, a.rows, layer_norm_grain / (a.cols + 1) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   RowStats<C> stats;
                   row(static_cast<const T*>(a.x) + r * a.cols, gamma, beta,
                       a.y ? static_cast<T*>(a.y) + r * a.cols : nullptr, a.cols, a.epsilon, stats);
                   if (a.mean) static_cast<C*>(a.mean)[r] = stats.mean;
                   if (a.rstd) static_cast<C*>(a.rstd)[r] = stats.rstd;
                 }
               });
}

// With g = dy gamma and h = (x - mean) rstd: dx = rstd (g - mean(g) - h mean(g h)); rms_norm has
// no mean(g). Adds dy h to dgamma and dy to dbeta.
template <class T, bool centred>
[[gnu::noinline]] void grad_row(const T* x, const T* gamma, const T* dy, T* dx, int64_t n,
                                RowStats<compute_t<T>> stats, compute_t<T>* dgamma,
                                compute_t<T>* dbeta) {
  using C = compute_t<T>;
  const auto scaled = [&](int64_t i, auto extent) {
    const Vec<C> d = load(dy + i, extent);
    return gamma ? d * load(gamma + i, extent) : d;
  };
  const auto normal = [&](int64_t i, auto extent) {
    return (load(x + i, extent, stats.mean) - stats.mean) * stats.rstd;
  };
  Vec<C> sum_g{}, sum_gh{};
  each_vector<T>(n, [&](int64_t i, auto extent) {
    const Vec<C> d = load(dy + i, extent), h = normal(i, extent), g = scaled(i, extent);
    sum_g += g;
    sum_gh = fma(g, h, sum_gh);
    store(dgamma + i, fma(d, h, load(dgamma + i, extent)), extent);
    store(dbeta + i, load(dbeta + i, extent) + d, extent);
  });
  if (!dx) return;
  const C mean_g = centred ? sum_lanes<C>(sum_g) / static_cast<C>(n) : 0;
  const C mean_gh = sum_lanes<C>(sum_gh) / static_cast<C>(n);
  each_vector<T>(n, [&](int64_t i, auto extent) {
    store(dx + i, (scaled(i, extent) - mean_g - normal(i, extent) * mean_gh) * stats.rstd, extent);
  });
}

template <class T, bool centred>
void layer_norm_grad(const LayerNormGradArgs& a) {
  using C = compute_t<T>;
  const FixedSplit split = layer_norm_split(a.rows);
  C* const partial = static_cast<C*>(a.scratch);
  const int64_t grain = layer_norm_grain * split.chunks / (a.rows * a.cols + 1) + 1;
  parallel_for(a.threads, split.chunks, grain, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      C* const sums = partial + p * 2 * a.cols;
      std::fill_n(sums, 2 * a.cols, C(0));
      for (int64_t r = split.begin(p); r < split.end(p); ++r) {
        const RowStats<C> stats{centred ? static_cast<const C*>(a.mean)[r] : C(0),
                                static_cast<const C*>(a.rstd)[r]};
        grad_row<T, centred>(static_cast<const T*>(a.x) + r * a.cols,
                             static_cast<const T*>(a.gamma),
                             static_cast<const T*>(a.dy) + r * a.cols,
                             a.dx ? static_cast<T*>(a.dx) + r * a.cols : nullptr, a.cols, stats,
                             sums, sums + a.cols);
      }
    }
  });
  const int64_t stride = 2 * a.cols;
  if (a.dgamma) combine_chunks(partial, split.chunks, stride, static_cast<T*>(a.dgamma), a.cols);
  if (a.dbeta) {
    combine_chunks(partial + a.cols, split.chunks, stride, static_cast<T*>(a.dbeta), a.cols);
  }
}

constexpr LayerNormRoutines layer_norm_routines() {
  LayerNormRoutines routines{};
  set_floats(routines.layer_norm, []<class T>(TypeTag<T>) { return &layer_norm<T, true>; });
  set_floats(routines.rms_norm, []<class T>(TypeTag<T>) { return &layer_norm<T, false>; });
  set_floats(routines.layer_norm_grad,
             []<class T>(TypeTag<T>) { return &layer_norm_grad<T, true>; });
  set_floats(routines.rms_norm_grad,
             []<class T>(TypeTag<T>) { return &layer_norm_grad<T, false>; });
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const LayerNormRoutines LayerNormRoutines::KERATIN_LEVEL =
    KERATIN_LEVEL::layer_norm_routines();
}  // namespace keratin::cpu
