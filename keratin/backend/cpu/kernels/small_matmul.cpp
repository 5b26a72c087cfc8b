#include "keratin/backend/cpu/kernels/small_matmul.h"

#include "keratin/backend/cpu/kernels/level.h"
#include "keratin/backend/cpu/kernels/math.h"
#include "keratin/backend/cpu/parallel.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

template <class V>
[[gnu::always_inline]] inline V activate(V v, MatmulActivation activation) {
  switch (activation) {
    case MatmulActivation::none:
      return v;
    case MatmulActivation::relu:
      return v < 0 ? V{} : v;
    case MatmulActivation::sigmoid:
      return sigmoid(v);
    case MatmulActivation::tanh:
      break;
  }
  return tanh(v);
}

// rows x cols vectors of the result in registers, b read along its rows. `chains` independent sums
// per vector hide the latency of an addition when there are few vectors.
template <class T, int rows, int cols, int chains, class Extent>
[[gnu::always_inline]] inline void block(const SmallMatmulArgs& s, const T* a, const T* b,
                                         const T* bias, T* y, Extent part) {
  using C = compute_t<T>;
  Vec<C> acc[chains][rows][cols]{};
  int64_t k = 0;
  for (; k + chains <= s.k; k += chains) {
    for (int chain = 0; chain < chains; ++chain) {
      const T* const row = b + (k + chain) * s.b_row;
      for (int j = 0; j < cols; ++j) {
        const Vec<C> w = load(row + j * lanes<T>, part);
        for (int i = 0; i < rows; ++i) {
          const C v = get(a + i * s.a_row + (k + chain) * s.a_col);
          acc[chain][i][j] = fma(splat(v), w, acc[chain][i][j]);
        }
      }
    }
  }
  for (; k < s.k; ++k) {
    for (int j = 0; j < cols; ++j) {
      const Vec<C> w = load(b + k * s.b_row + j * lanes<T>, part);
      for (int i = 0; i < rows; ++i) {
        acc[0][i][j] = fma(splat(get(a + i * s.a_row + k * s.a_col)), w, acc[0][i][j]);
      }
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) {
      Vec<C> v = acc[0][i][j];
      for (int chain = 1; chain < chains; ++chain) v += acc[chain][i][j];
      if (bias) v += load(bias + j * lanes<T>, part);
      store(y + i * s.y_row + j * lanes<T>, activate(v, s.activation), part);
    }
  }
}

// `rows` rows by columns [begin, end) of one product, b along its rows.
template <class T, int rows>
[[gnu::noinline]] void rows_by_columns(const SmallMatmulArgs& s, const T* a, const T* b,
                                       const T* bias, T* y, int64_t begin, int64_t end) {
  constexpr int64_t width = lanes<T>;
  constexpr int wide = rows == 1 ? 8 : rows == 2 ? 4 : 2;
  const auto at = [&](int64_t j) { return bias ? bias + j : nullptr; };
  int64_t j = begin;
  for (; j + wide * width <= end; j += wide * width) {
    block<T, rows, wide, 1>(s, a, b + j, at(j), y + j, Full{});
  }
  if constexpr (wide == 8) {
    for (; j + 4 * width <= end; j += 4 * width) {
      block<T, rows, 4, 2>(s, a, b + j, at(j), y + j, Full{});
    }
  }
  constexpr int chains = rows == 1 ? 4 : rows == 2 ? 2 : 1;
  each_vector<T>(end - j, [&](int64_t i, auto part) {
    block<T, rows, 1, chains>(s, a, b + j + i, at(j + i), y + j + i, part);
  });
}

// b along its columns: each result is a dot product of two rows in memory.
template <class T>
[[gnu::noinline]] void dot_products(const SmallMatmulArgs& s, const T* a, const T* b, const T* bias,
                                    T* y, int64_t begin, int64_t end) {
  using C = compute_t<T>;
  constexpr int group = 4;
  for (int64_t j = begin; j < end; j += group) {
    const int64_t n = std::min<int64_t>(group, end - j);
    C sums[group] = {};
    if (s.a_col == 1) {
      Vec<C> acc[group]{};
      each_vector<T>(s.k, [&](int64_t k, auto part) {
        const Vec<C> v = load(a + k, part);
        for (int64_t g = 0; g < n; ++g) {
          acc[g] = fma(v, load(b + (j + g) * s.b_col + k, part), acc[g]);
        }
      });
      for (int64_t g = 0; g < n; ++g) sums[g] = sum_lanes<C>(acc[g]);
    } else {
      for (int64_t k = 0; k < s.k; ++k) {
        const C v = get(a + k * s.a_col);
        for (int64_t g = 0; g < n; ++g) sums[g] += v * get(b + (j + g) * s.b_col + k);
      }
    }
    for (int64_t g = 0; g < n; ++g) {
      const C v = bias ? sums[g] + get(bias + j + g) : sums[g];
      put(y + j + g, activate(splat(v), s.activation)[0]);
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void columns(const SmallMatmulArgs& s, const T* a, const T* b,
                                           const T* bias, T* y, int64_t begin, int64_t end) {
  if (s.b_col != 1) {
    for (int64_t i = 0; i < s.m; ++i) {
      dot_products(s, a + i * s.a_row, b, bias, y + i * s.y_row, begin, end);
    }
    return;
  }
  int64_t i = 0;
  for (; i + 4 <= s.m; i += 4) {
    rows_by_columns<T, 4>(s, a + i * s.a_row, b, bias, y + i * s.y_row, begin, end);
  }
  for (; i + 2 <= s.m; i += 2) {
    rows_by_columns<T, 2>(s, a + i * s.a_row, b, bias, y + i * s.y_row, begin, end);
  }
  if (i < s.m) rows_by_columns<T, 1>(s, a + i * s.a_row, b, bias, y + i * s.y_row, begin, end);
}

template <class T>
void matmul(const SmallMatmulArgs& s) {
  const T* const bias = static_cast<const T*>(s.bias);
  // Columns are shared out in whole blocks, so that a column is summed the same way whatever the
  // number of threads; a thread pays above some 30 us of work.
  constexpr int64_t step = 8 * lanes<T>;
  const int64_t steps = (s.n + step - 1) / step;
  for (int64_t p = 0; p < s.batch; ++p) {
    const T* const a = static_cast<const T*>(s.a) + p * s.a_batch;
    const T* const b = static_cast<const T*>(s.b) + p * s.b_batch;
    T* const y = static_cast<T*>(s.y) + p * s.y_batch;
    if (s.threads <= 1 || s.n * s.k < 65536) {
      columns(s, a, b, bias, y, 0, s.n);
      continue;
    }
    parallel_for(s.threads, steps, 65536 / (s.k * step + 1) + 1, [&](int64_t first, int64_t last) {
      columns(s, a, b, bias, y, first * step, std::min(last * step, s.n));
    });
  }
}

}  // namespace

void add_small_matmul(SmallMatmulKernels& k) {
  set_floats(k.matmul, []<class T>(TypeTag<T>) { return &matmul<T>; });
}

}  // namespace keratin::cpu::KERATIN_LEVEL
