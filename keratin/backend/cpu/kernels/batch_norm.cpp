#include <cmath>
#include <limits>

#include "keratin/backend/cpu/kernels/level.h"
#include "keratin/backend/cpu/kernels/norm.h"
#include "keratin/backend/cpu/kernels/rows.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t grain_elements = 8192;
constexpr int64_t block_rows = 32;

// Merges `count` samples with the given mean and sum of squared deviations into running ones that
// stand for `seen` samples.
template <class V, class C>
[[gnu::always_inline]] inline void merge(V& mean, V& squares, C seen, V other_mean, V other_squares,
                                         C count) {
  const V delta = other_mean - mean;
  const C share = count / (seen + count);
  mean += delta * share;
  squares += other_squares + delta * delta * (seen * share);
}

// Mean and squared deviations of rows [begin, end), block by block: one pass over memory, two over
// the cache, no cancellation.
template <class T>
[[gnu::noinline]] void part_stats(const T* x, int64_t begin, int64_t end, int64_t channels,
                                  compute_t<T>* mean, compute_t<T>* squares) {
  using C = compute_t<T>;
  std::fill_n(mean, channels, C(0));
  std::fill_n(squares, channels, C(0));
  for (int64_t first = begin; first < end; first += block_rows) {
    const int64_t n = std::min(block_rows, end - first);
    const C count = static_cast<C>(n);
    each_vector<T>(channels, [&](int64_t c, auto part) {
      const T* const column = x + first * channels + c;
      Vec<C> total{}, deviation{};
      for (int64_t r = 0; r < n; ++r) total += load(column + r * channels, part);
      const Vec<C> centre = total / count;
      for (int64_t r = 0; r < n; ++r) {
        const Vec<C> d = load(column + r * channels, part) - centre;
        deviation = fma(d, d, deviation);
      }
      Vec<C> m = load(mean + c, part), s = load(squares + c, part);
      merge(m, s, static_cast<C>(first - begin), centre, deviation, count);
      store(mean + c, m, part);
      store(squares + c, s, part);
    });
  }
}

template <class T>
void find_stats(const BatchNormArgs& a) {
  using C = compute_t<T>;
  const FixedSplit split = batch_norm_split(a.rows, a.channels);
  C* const partial = static_cast<C*>(a.scratch);
  const int64_t stride = 2 * a.channels;
  const int64_t grain = grain_elements * split.parts / (a.rows * a.channels + 1) + 1;
  parallel_for(a.threads, split.parts, grain, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      C* const sums = partial + p * stride;
      part_stats(static_cast<const T*>(a.x), split.begin(p), split.end(p), a.channels, sums,
                 sums + a.channels);
    }
  });
  each_vector<T>(a.channels, [&](int64_t c, auto part) {
    Vec<C> mean = load(partial + c, part), squares = load(partial + a.channels + c, part);
    for (int64_t p = 1; p < split.parts; ++p) {
      const C* const other = partial + p * stride + c;
      merge(mean, squares, static_cast<C>(split.begin(p)), load(other, part),
            load(other + a.channels, part), static_cast<C>(split.end(p) - split.begin(p)));
    }
    store(static_cast<C*>(a.mean) + c, mean, part);
    store(static_cast<C*>(a.var) + c, squares / static_cast<C>(a.rows), part);
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
  each_vector<T>(n, [&](int64_t c, auto part) {
    store(
        y + c,
        (load(x + c, part) - load(mean + c, part)) * load(scale + c, part) + load(shift + c, part),
        part);
  });
}

template <class T>
void batch_norm_infer(const BatchNormArgs& a) {
  using C = compute_t<T>;
  C* const scale = static_cast<C*>(a.scratch);
  C* const shift = scale + a.channels;
  find_scale<T>(a.gamma, a.beta, a.var, a.epsilon, a.channels, scale, shift);
  parallel_for(a.threads, a.rows, grain_elements / (a.channels + 1) + 1,
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
  if (a.y) batch_norm_infer<T>(a);  // else only the statistics were asked for
}

// Sums of dy (x - mean) and of dy over rows [begin, end).
template <class T>
[[gnu::noinline]] void part_grad(const BatchNormGradArgs& a, int64_t begin, int64_t end,
                                 compute_t<T>* products, compute_t<T>* sums) {
  using C = compute_t<T>;
  std::fill_n(products, a.channels, C(0));
  std::fill_n(sums, a.channels, C(0));
  for (int64_t first = begin; first < end; first += block_rows) {
    const int64_t n = std::min(block_rows, end - first);
    each_vector<T>(a.channels, [&](int64_t c, auto part) {
      const T* x = static_cast<const T*>(a.x) + first * a.channels + c;
      const T* dy = static_cast<const T*>(a.dy) + first * a.channels + c;
      const Vec<C> mean = load(static_cast<const C*>(a.mean) + c, part);
      Vec<C> product{}, sum{};
      for (int64_t r = 0; r < n; ++r, x += a.channels, dy += a.channels) {
        const Vec<C> d = load(dy, part);
        product = fma(d, Vec<C>(load(x, part) - mean), product);
        sum += d;
      }
      store(products + c, load(products + c, part) + product, part);
      store(sums + c, load(sums + c, part) + sum, part);
    });
  }
}

// dx = (dy + (x - mean) slope + offset) scale, see batch_norm_grad.
template <class T>
[[gnu::noinline]] void grad_row(const T* x, const T* dy, T* dx, int64_t n, const compute_t<T>* mean,
                                const compute_t<T>* scale, const compute_t<T>* slope,
                                const compute_t<T>* offset) {
  each_vector<T>(n, [&](int64_t c, auto part) {
    const auto linear =
        (load(x + c, part) - load(mean + c, part)) * load(slope + c, part) + load(offset + c, part);
    store(dx + c, (load(dy + c, part) + linear) * load(scale + c, part), part);
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
  C* const slope = partial + split.parts * stride;
  C* const offset = slope + a.channels;
  C* const scale = offset + a.channels;
  const int64_t grain = grain_elements * split.parts / (a.rows * a.channels + 1) + 1;
  parallel_for(a.threads, split.parts, grain, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      C* const sums = partial + p * stride;
      part_grad<T>(a, split.begin(p), split.end(p), sums, sums + a.channels);
    }
  });
  combine_parts(partial, split.parts, stride, slope, a.channels);
  combine_parts(partial + a.channels, split.parts, stride, offset, a.channels);
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
  parallel_for(a.threads, a.rows, grain_elements / (a.channels + 1) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin * a.channels; r < end * a.channels; r += a.channels) {
                   grad_row(static_cast<const T*>(a.x) + r, static_cast<const T*>(a.dy) + r,
                            static_cast<T*>(a.dx) + r, a.channels, static_cast<const C*>(a.mean),
                            scale, slope, offset);
                 }
               });
}

}  // namespace

void add_batch_norm(NormKernels& k) {
  set_floats(k.batch_norm_train, []<class T>(TypeTag<T>) { return &batch_norm_train<T>; });
  set_floats(k.batch_norm_infer, []<class T>(TypeTag<T>) { return &batch_norm_infer<T>; });
  set_floats(k.batch_norm_grad, []<class T>(TypeTag<T>) { return &batch_norm_grad<T>; });
}

}  // namespace keratin::cpu::KERATIN_LEVEL
