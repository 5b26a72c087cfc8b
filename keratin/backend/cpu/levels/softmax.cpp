#include "keratin/backend/cpu/levels/softmax.h"

#include <cmath>
#include <limits>

#include "keratin/backend/cpu/levels/math.h"
#include "keratin/backend/cpu/levels/rows.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t softmax_grain = 8192;

template <class C>
constexpr C minus_infinity = -std::numeric_limits<C>::infinity();

template <class T>
[[gnu::always_inline]] inline compute_t<T> row_max(const T* x, int64_t n) {
  using C = compute_t<T>;
  Vec<C> acc[4];
  for (auto& a : acc) a = splat(minus_infinity<C>);
  each_of_four<T>(n, acc, [&](int64_t i, Vec<C>& a, auto extent) {
    a = max(load(x + i, extent, minus_infinity<C>), a);
  });
  return max_lanes<C>(max(max(acc[0], acc[1]), max(acc[2], acc[3])));
}

// sum e^(x - peak); with y given, the terms are kept there.
template <class T>
[[gnu::always_inline]] inline compute_t<T> row_exp_sum(const T* x, T* y, int64_t n,
                                                       compute_t<T> peak) {
  using C = compute_t<T>;
  Vec<C> acc[4]{};
  each_of_four<T>(n, acc, [&](int64_t i, Vec<C>& a, auto extent) {
    const Vec<C> e = exp(Vec<C>(load(x + i, extent, minus_infinity<C>) - peak));
    if (y) store(y + i, e, extent);
    a += e;
  });
  return sum_lanes<C>((acc[0] + acc[1]) + (acc[2] + acc[3]));
}

template <class T, bool log>
[[gnu::noinline]] void softmax_row(const T* x, T* y, int64_t n) {
  using C = compute_t<T>;
  const C peak = row_max(x, n);
  // Halves are too coarse to keep the terms in, so these are computed twice.
  constexpr bool keep = !log && !is_half<T>;
  const C total = row_exp_sum<T>(x, keep ? y : nullptr, n, peak);
  if constexpr (log) {
    // Not x - (peak + log): next to a large peak the logarithm would be rounded away.
    const C shift = std::log(total);
    each_vector<T>(n, [&](int64_t i, auto extent) {
      store(y + i, load(x + i, extent) - peak - shift, extent);
    });
  } else {
    const C scale = 1 / total;
    each_vector<T>(n, [&](int64_t i, auto extent) {
      Vec<C> e;
      if constexpr (keep) {
        e = load(y + i, extent);
      } else {
        e = exp(Vec<C>(load(x + i, extent) - peak));
      }
      store(y + i, e * scale, extent);
    });
  }
}

// log of each lane; once per column, so the scalar function will do.
template <class C>
[[gnu::always_inline]] inline Vec<C> log_lanes(Vec<C> v) {
  for (int64_t i = 0; i < lanes<C>; ++i) v[i] = std::log(v[i]);
  return v;
}

// One vector of neighbouring columns, each a softmax of its own.
template <class T, bool log, class Extent>
[[gnu::always_inline]] inline void softmax_columns(const T* x, T* y, int64_t axis, int64_t inner,
                                                   Extent extent) {
  using C = compute_t<T>;
  Vec<C> peak = splat(minus_infinity<C>), total{};
  for (int64_t k = 0; k < axis; ++k) peak = max(load(x + k * inner, extent), peak);
  for (int64_t k = 0; k < axis; ++k) total += exp(Vec<C>(load(x + k * inner, extent) - peak));
  if constexpr (log) {
    const Vec<C> shift = log_lanes<C>(total);
    for (int64_t k = 0; k < axis; ++k) {
      store(y + k * inner, load(x + k * inner, extent) - peak - shift, extent);
    }
  } else {
    const Vec<C> scale = 1 / total;
    for (int64_t k = 0; k < axis; ++k) {
      store(y + k * inner, exp(Vec<C>(load(x + k * inner, extent) - peak)) * scale, extent);
    }
  }
}

// dx from sum dy y (softmax) or sum dy (log_softmax), `total`.
template <class T, bool log>
[[gnu::always_inline]] inline Vec<compute_t<T>> grad_of(Vec<compute_t<T>> y, Vec<compute_t<T>> dy,
                                                        Vec<compute_t<T>> total) {
  if constexpr (log) {
    return dy - exp(y) * total;
  } else {
    return y * (dy - total);
  }
}

template <class T, bool log>
[[gnu::noinline]] void grad_row(const T* y, const T* dy, T* dx, int64_t n) {
  using C = compute_t<T>;
  Vec<C> acc[4]{};
  each_of_four<T>(n, acc, [&](int64_t i, Vec<C>& a, auto extent) {
    const Vec<C> d = load(dy + i, extent);
    if constexpr (log) {
      a += d;
    } else {
      a = fma(d, load(y + i, extent), a);
    }
  });
  const Vec<C> total = splat(sum_lanes<C>((acc[0] + acc[1]) + (acc[2] + acc[3])));
  each_vector<T>(n, [&](int64_t i, auto extent) {
    store(dx + i, grad_of<T, log>(load(y + i, extent), load(dy + i, extent), total), extent);
  });
}

template <class T, bool log, class Extent>
[[gnu::always_inline]] inline void grad_columns(const T* y, const T* dy, T* dx, int64_t axis,
                                                int64_t inner, Extent extent) {
  using C = compute_t<T>;
  Vec<C> total{};
  for (int64_t k = 0; k < axis * inner; k += inner) {
    const Vec<C> d = load(dy + k, extent);
    if constexpr (log) {
      total += d;
    } else {
      total = fma(d, load(y + k, extent), total);
    }
  }
  for (int64_t k = 0; k < axis * inner; k += inner) {
    store(dx + k, grad_of<T, log>(load(y + k, extent), load(dy + k, extent), total), extent);
  }
}

template <class T, bool log>
void softmax(const SoftmaxArgs& a) {
  const T* const x = static_cast<const T*>(a.x);
  T* const y = static_cast<T*>(a.y);
  const int64_t slice = a.axis * a.inner;
  if (slice == 0) return;
  const int64_t grain = softmax_grain / slice + 1;
  parallel_for(a.threads, a.outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin * slice; o < end * slice; o += slice) {
      if (a.inner == 1) {
        softmax_row<T, log>(x + o, y + o, a.axis);
      } else {
        each_vector<T>(a.inner, [&](int64_t i, auto extent) {
          softmax_columns<T, log>(x + o + i, y + o + i, a.axis, a.inner, extent);
        });
      }
    }
  });
}

template <class T, bool log>
void softmax_grad(const SoftmaxGradArgs& a) {
  const T* const y = static_cast<const T*>(a.y);
  const T* const dy = static_cast<const T*>(a.dy);
  T* const dx = static_cast<T*>(a.dx);
  const int64_t slice = a.axis * a.inner;
  if (slice == 0) return;
  const int64_t grain = softmax_grain / slice + 1;
  parallel_for(a.threads, a.outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin * slice; o < end * slice; o += slice) {
      if (a.inner == 1) {
        grad_row<T, log>(y + o, dy + o, dx + o, a.axis);
      } else {
        each_vector<T>(a.inner, [&](int64_t i, auto extent) {
          grad_columns<T, log>(y + o + i, dy + o + i, dx + o + i, a.axis, a.inner, extent);
        });
      }
    }
  });
}

constexpr SoftmaxRoutines softmax_routines() {
  SoftmaxRoutines routines{};
  set_floats(routines.softmax, []<class T>(TypeTag<T>) { return &softmax<T, false>; });
  set_floats(routines.log_softmax, []<class T>(TypeTag<T>) { return &softmax<T, true>; });
  set_floats(routines.softmax_grad, []<class T>(TypeTag<T>) { return &softmax_grad<T, false>; });
  set_floats(routines.log_softmax_grad, []<class T>(TypeTag<T>) { return &softmax_grad<T, true>; });
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const SoftmaxRoutines SoftmaxRoutines::KERATIN_LEVEL = KERATIN_LEVEL::softmax_routines();
}  // namespace keratin::cpu
