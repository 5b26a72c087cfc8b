#include <cmath>
#include <limits>

#include "keratin/backend/cpu/levels/norm.h"
#include "keratin/backend/cpu/levels/rows.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t batch_norm_grain = 8192;
constexpr int64_t block_rows = 32;

// Merges `count` samples with the given mean and sum of squared deviations into running ones that
// stand for `seen` samples.
template <class V, class C>
[[gnu::always_inline]] inline void merge(V& mean, V& squares, C seen, V other_mean, V other_squares,
                                         C count) {
  const V delta = other_mean - mean;
  const C fraction = count / (seen + count);
  mean += delta * fraction;
  squares += other_squares + delta * delta * (seen * fraction);
}

// Mean and squared deviations of rows [begin, end), block by block: one pass over memory, two over
// the cache, no cancellation.
template <class T>
[[gnu::noinline]] void chunk_stats(const T* x, int64_t begin, int64_t end, int64_t channels,
                                   compute_t<T>* mean, compute_t<T>* squares) {
  using C = compute_t<T>;
  std::fill_n(mean, channels, C(0));
  std::fill_n(squares, channels, C(0));
  for (int64_t first = begin; first < end; first += block_rows) {
    const int64_t n = std::min(block_rows, end - first);
    const C count = static_cast<C>(n);
    each_vector<T>(channels, [&](int64_t c, auto extent) {
      const T* const column = x + first * channels + c;
      Vec<C> total{}, deviation{};
      for (int64_t r = 0; r < n; ++r) total += load(column + r * channels, extent);
      const Vec<C> centre = total / count;
      for (int64_t r = 0; r < n; ++r) {
        const Vec<C> d = load(column + r * channels, extent) - centre;
        deviation = fma(d, d, deviation);
      }
      Vec<C> m = load(mean + c, extent), s = load(squares + c, extent);
      merge(m, s, static_cast<C>(first - begin), centre, deviation, count);
      store(mean + c, m, extent);
      store(squares + c, s, extent);
    });
  }
}

template <class T>
void find_stats(const BatchNormArgs& a) {
  using C = compute_t<T>;
  const FixedSplit split = batch_norm_split(a.rows, a.channels);
  C* const partial = static_cast<C*>(a.scratch);
  const int64_t stride = 2 * a.channels;
  const int64_t grain = batch_norm_grain * split.chunks / (a.rows * a.channels + 1) + 1;
  parallel_for(a.threads, split.chunks, grain, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      C* const sums = partial + p * stride;
      chunk_stats(static_cast<const T*>(a.x), split.begin(p), split.end(p), a.channels, sums,
                  sums + a.channels);
    }
  });
  each_vector<T>(a.channels, [&](int64_t c, auto extent) {
    Vec<C> mean = load(partial + c, extent), squares = load(partial + a.channels + c, extent);
    for (int64_t p = 1; p < split.chunks; ++p) {
      const C* const other = partial + p * stride + c;
      merge(mean, squares, static_cast<C>(split.begin(p)), load(other, extent),
            load(other + a.channels, extent), static_cast<C>(split.end(p) - split.begin(p)));
    }
    store(static_cast<C*>(a.mean) + c, mean, extent);
    store(static_cast<C*>(a.var) + c, squares / static_cast<C>(a.rows), extent);
  });
}

// scale = gamma / sqrt(var + epsilon) and shift = beta as arrays of the compute type.
template <class T>
void find_scale(const void* gamma, const void* beta, const void* var, double epsilon,
                int64_t channels, compute_t<T>* scale, compute_t<T>* shift) {
  using C = compute_t<T>;
  for (int64_t c = 0; c < channels; ++c) {
    const C rstd = 1 / std::sqrt(static_cast<const C*>(var)[c] + static_cast<C>(epsilon));
    scale[c] = gamma ? rstd * get(static_cast<const T*>(gamma) + c) : rstd;
    shift[c] = beta ? get(static_cast<const T*>(beta) + c) : C(0);
  }
}

template <class T>
[[gnu::noinline]] void apply_row(const T* x, T* y, int64_t n, const compute_t<T>* mean,
                                 const compute_t<T>* scale, const compute_t<T>* shift) {
  each_vector<T>(n, [&](int64_t c, auto extent) {
    store(y + c,
          (load(x + c, extent) - load(mean + c, extent)) * load(scale + c, extent) +
              load(shift + c, extent),
          extent);
  });
}

template <class T>
void batch_norm_infer(const BatchNormArgs& a) {
  using C = compute_t<T>;
  C* const scale = static_cast<C*>(a.scratch);
  C* const shift = scale + a.channels;
  find_scale<T>(a.gamma, a.beta, a.var, a.epsilon, a.channels, scale, shift);
  parallel_for(a.threads, a.rows, batch_norm_grain / (a.channels + 1) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   apply_row(static_cast<const T*>(a.x) + r * a.channels,
                             static_cast<T*>(a.y) + r * a.channels, a.channels,
                             static_cast<const C*>(a.mean), scale, shift);
                 }
               });
}

template <class T>
void batch_norm_train(const BatchNormArgs& a) {
  using C = compute_t<T>;
  if (a.rows == 0) {  // the mean of nothing
    std::fill_n(static_cast<C*>(a.mean), a.channels, std::numeric_limits<C>::quiet_NaN());
    std::fill_n(static_cast<C*>(a.var), a.channels, std::numeric_limits<C>::quiet_NaN());
    return;
  }
  find_stats<T>(a);
  if (a.y) batch_norm_infer<T>(a);  // without y, only the statistics are wanted
}

// Sums of dy (x - mean) and of dy over rows [begin, end).
template <class T>
[[gnu::noinline]] void chunk_grad(const BatchNormGradArgs& a, int64_t begin, int64_t end,
                                  compute_t<T>* products, compute_t<T>* sums) {
  using C = compute_t<T>;
  std::fill_n(products, a.channels, C(0));
  std::fill_n(sums, a.channels, C(0));
  for (int64_t first = begin; first < end; first += block_rows) {
    const int64_t n = std::min(block_rows, end - first);
    each_vector<T>(a.channels, [&](int64_t c, auto extent) {
      const T* x = static_cast<const T*>(a.x) + first * a.channels + c;
      const T* dy = static_cast<const T*>(a.dy) + first * a.channels + c;
      const Vec<C> mean = load(static_cast<const C*>(a.mean) + c, extent);
      Vec<C> product{}, sum{};
      for (int64_t r = 0; r < n; ++r, x += a.channels, dy += a.channels) {
        const Vec<C> d = load(dy, extent);
        product = fma(d, Vec<C>(load(x, extent) - mean), product);
        sum += d;
      }
      store(products + c, load(products + c, extent) + product, extent);
      store(sums + c, load(sums + c, extent) + sum, extent);
    });
  }
}

// dx = (dy + (x - mean) slope + offset) scale, see batch_norm_grad.
template <class T>
[[gnu::noinline]] void grad_row(const T* x, const T* dy, T* dx, int64_t n, const compute_t<T>* mean,
                                const compute_t<T>* scale, const compute_t<T>* slope,
                                const compute_t<T>* offset) {
  each_vector<T>(n, [&](int64_t c, auto extent) {
    const auto linear = (load(x + c, extent) - load(mean + c, extent)) * load(slope + c, extent) +
                        load(offset + c, extent);
    store(dx + c, (load(dy + c, extent) + linear) * load(scale + c, extent), extent);
  });
}

// With h = (x - mean) rstd over N rows: dgamma = sum dy h, dbeta = sum dy,
// dx = gamma rstd (dy - dbeta / N - h dgamma / N).
template <class T>
void batch_norm_grad(const BatchNormGradArgs& a) {
  using C = compute_t<T>;
  const FixedSplit split = batch_norm_split(a.rows, a.channels);
  const int64_t stride = 2 * a.channels;
  C* const partial = static_cast<C*>(a.scratch);
  C* const slope = partial + split.chunks * stride;
  C* const offset = slope + a.channels;
  C* const scale = offset + a.channels;
  const int64_t grain = batch_norm_grain * split.chunks / (a.rows * a.channels + 1) + 1;
  parallel_for(a.threads, split.chunks, grain, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      C* const sums = partial + p * stride;
      chunk_grad<T>(a, split.begin(p), split.end(p), sums, sums + a.channels);
    }
  });
  combine_chunks(partial, split.chunks, stride, slope, a.channels);
  combine_chunks(partial + a.channels, split.chunks, stride, offset, a.channels);
  for (int64_t c = 0; c < a.channels; ++c) {
    const C rstd = 1 / std::sqrt(static_cast<const C*>(a.var)[c] + static_cast<C>(a.epsilon));
    const C products = slope[c], sums = offset[c];
    if (a.dgamma) put(static_cast<T*>(a.dgamma) + c, a.rows > 0 ? products * rstd : C(0));
    if (a.dbeta) put(static_cast<T*>(a.dbeta) + c, sums);
    slope[c] = -products * rstd * rstd / static_cast<C>(a.rows);
    offset[c] = -sums / static_cast<C>(a.rows);
    scale[c] = a.gamma ? rstd * get(static_cast<const T*>(a.gamma) + c) : rstd;
  }
  if (!a.dx) return;
  parallel_for(a.threads, a.rows, batch_norm_grain / (a.channels + 1) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin * a.channels; r < end * a.channels; r += a.channels) {
                   grad_row(static_cast<const T*>(a.x) + r, static_cast<const T*>(a.dy) + r,
                            static_cast<T*>(a.dx) + r, a.channels, static_cast<const C*>(a.mean),
                            scale, slope, offset);
                 }
               });
}

constexpr BatchNormRoutines batch_norm_routines() {
  BatchNormRoutines routines{};
  set_floats(routines.training, []<class T>(TypeTag<T>) { return &batch_norm_train<T>; });
  set_floats(routines.inference, []<class T>(TypeTag<T>) { return &batch_norm_infer<T>; });
  set_floats(routines.grad, []<class T>(TypeTag<T>) { return &batch_norm_grad<T>; });
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const BatchNormRoutines BatchNormRoutines::KERATIN_LEVEL =
    KERATIN_LEVEL::batch_norm_routines();
}  // namespace keratin::cpu
