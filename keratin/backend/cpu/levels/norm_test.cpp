#include "keratin/backend/cpu/levels/norm.h"

#include <cmath>
#include "keratin/tensor/elements.h"

#include "keratin/backend/cpu/levels/level_testing.h"

namespace keratin::cpu {
namespace {

struct NormSizes {
  int64_t rows, cols;
};
const NormSizes norm_sizes[] = {{1, 1},    {1, 7},    {5, 16}, {3, 33},  {300, 65},
                                {64, 768}, {1000, 3}, {0, 5},  {700, 40}};
constexpr double epsilon = 1e-3;
// The naive sums in double are themselves no better than this.
template <class T>
constexpr double slack = std::is_same_v<T, double> ? 300 : 24;

template <class T>
class NormTest : public FloatRoutines<T> {};
TYPED_TEST_SUITE(NormTest, FloatStorage);

template <class T>
struct NormProblem {
  NormSizes s;
  std::vector<T> x, gamma, beta, dy;

  explicit NormProblem(NormSizes sizes)
      : s(sizes),
        x(random_values<T>(s.rows * s.cols, 1, 2, 5)),
        gamma(random_values<T>(s.cols, 2)),
        beta(random_values<T>(s.cols, 3)),
        dy(random_values<T>(s.rows * s.cols, 4)) {}

  double at(const std::vector<T>& v, int64_t r, int64_t c) const {
    return value_of(v[static_cast<size_t>(r * s.cols + c)]);
  }
  double at(const std::vector<T>& v, int64_t c) const {
    return value_of(v[static_cast<size_t>(c)]);
  }
};

struct Stats {
  double mean = 0, var = 0;
};

// Mean and variance of get(0..n-1).
template <class F>
Stats stats_of(int64_t n, bool centred, const F& get) {
  Stats s;
  for (int64_t i = 0; centred && i < n; ++i) s.mean += get(i) / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    s.var += (get(i) - s.mean) * (get(i) - s.mean) / static_cast<double>(n);
  }
  return s;
}

template <class T>
std::vector<double> naive_rows(const NormProblem<T>& p, bool centred, bool scaled) {
  std::vector<double> y;
  for (int64_t r = 0; r < p.s.rows; ++r) {
    const Stats s = stats_of(p.s.cols, centred, [&](int64_t c) { return p.at(p.x, r, c); });
    for (int64_t c = 0; c < p.s.cols; ++c) {
      const double h = (p.at(p.x, r, c) - s.mean) / std::sqrt(s.var + epsilon);
      y.push_back(scaled ? h * p.at(p.gamma, c) + p.at(p.beta, c) : h);
    }
  }
  return y;
}

// dx, then dgamma, then dbeta. Statistics along rows (layer norm) or columns (batch norm).
template <class T>
std::vector<double> naive_grad(const NormProblem<T>& p, bool centred, bool by_column) {
  const int64_t groups = by_column ? p.s.cols : p.s.rows, n = by_column ? p.s.rows : p.s.cols;
  std::vector<double> out(static_cast<size_t>(p.s.rows * p.s.cols + 2 * p.s.cols));
  for (int64_t g = 0; g < groups; ++g) {
    const auto row = [&](int64_t i) { return by_column ? i : g; };
    const auto col = [&](int64_t i) { return by_column ? g : i; };
    const Stats s = stats_of(n, centred, [&](int64_t i) { return p.at(p.x, row(i), col(i)); });
    const double rstd = 1 / std::sqrt(s.var + epsilon);
    double sum_g = 0, sum_gh = 0;
    const auto hat = [&](int64_t i) { return (p.at(p.x, row(i), col(i)) - s.mean) * rstd; };
    const auto scaled = [&](int64_t i) {
      return p.at(p.dy, row(i), col(i)) * p.at(p.gamma, col(i));
    };
    for (int64_t i = 0; i < n; ++i) {
      sum_g += centred ? scaled(i) : 0;
      sum_gh += scaled(i) * hat(i);
      double* const sums = out.data() + p.s.rows * p.s.cols + col(i);
      sums[0] += p.at(p.dy, row(i), col(i)) * hat(i);
      sums[p.s.cols] += p.at(p.dy, row(i), col(i));
    }
    const double count = static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) {
      out[static_cast<size_t>(row(i) * p.s.cols + col(i))] =
          rstd * (scaled(i) - sum_g / count - hat(i) * sum_gh / count);
    }
  }
  return out;
}

TYPED_TEST(NormTest, LayerAndRmsNormMatchTheDefinition) {
  using T = TypeParam;
  using C = compute_t<T>;
  for (const NormSizes s : norm_sizes) {
    const NormProblem<T> p(s);
    for (const int kind : {0, 1, 2, 3}) {
      SCOPED_TRACE(::testing::Message() << s.rows << " " << s.cols << " kind " << kind);
      const bool centred = kind & 1, scaled = kind & 2;
      on_every_level(
          [&](Level level, int threads) {
            std::vector<T> y(p.x.size());
            std::vector<C> mean(static_cast<size_t>(s.rows)), rstd(mean.size());
            (centred ? routines<LayerNormRoutines>(level).layer_norm
                     : routines<LayerNormRoutines>(level).rms_norm)[dtype_of<T>()](
                {p.x.data(), scaled ? p.gamma.data() : nullptr, scaled ? p.beta.data() : nullptr,
                 y.data(), mean.data(), rstd.data(), s.rows, s.cols, epsilon, threads});
            return y;
          },
          [&](const std::vector<T>& y) {
            expect_close(y, naive_rows(p, centred, scaled), slack<T>, s.cols <= 3 ? 300 : 1);
          });
    }
  }
}

TYPED_TEST(NormTest, LayerAndRmsNormGradientsMatchTheDefinition) {
  using T = TypeParam;
  using C = compute_t<T>;
  for (const NormSizes s : norm_sizes) {
    const NormProblem<T> p(s);
    const auto n = static_cast<size_t>(s.rows * s.cols), cols = static_cast<size_t>(s.cols);
    std::vector<C> mean(static_cast<size_t>(s.rows)), rstd(mean.size());
    for (const bool centred : {false, true}) {
      SCOPED_TRACE(::testing::Message() << s.rows << " " << s.cols << " centred " << centred);
      on_every_level(
          [&](Level level, int threads) {
            std::vector<T> out(n + 2 * cols);
            (centred ? routines<LayerNormRoutines>(level).layer_norm
                     : routines<LayerNormRoutines>(level).rms_norm)[dtype_of<T>()](
                {p.x.data(), nullptr, nullptr, out.data(), mean.data(), rstd.data(), s.rows, s.cols,
                 epsilon, threads});
            std::vector<char> scratch(
                static_cast<size_t>(layer_norm_grad_scratch(dtype_of<T>(), s.rows, s.cols)));
            (centred ? routines<LayerNormRoutines>(level).layer_norm_grad
                     : routines<LayerNormRoutines>(level).rms_norm_grad)[dtype_of<T>()](
                {p.x.data(), p.gamma.data(), p.dy.data(), mean.data(), rstd.data(), out.data(),
                 out.data() + n, out.data() + n + cols, s.rows, s.cols, scratch.data(), threads});
            return out;
          },
          [&](const std::vector<T>& out) {
            expect_close(out, naive_grad(p, centred, false), slack<T>, s.cols <= 3 ? 300 : 8);
          });
    }
  }
}

TYPED_TEST(NormTest, BatchNormMatchesTheDefinition) {
  using T = TypeParam;
  using C = compute_t<T>;
  for (const NormSizes s : norm_sizes) {
    SCOPED_TRACE(::testing::Message() << s.rows << " " << s.cols);
    const NormProblem<T> p(s);
    const auto cols = static_cast<size_t>(s.cols);
    std::vector<double> want(p.x.size());
    for (int64_t c = 0; c < s.cols; ++c) {
      const Stats t = stats_of(s.rows, true, [&](int64_t r) { return p.at(p.x, r, c); });
      for (int64_t r = 0; r < s.rows; ++r) {
        want[static_cast<size_t>(r * s.cols + c)] =
            (p.at(p.x, r, c) - t.mean) / std::sqrt(t.var + epsilon) * p.at(p.gamma, c) +
            p.at(p.beta, c);
      }
    }
    on_every_level(
        [&](Level level, int threads) {
          std::vector<T> y(p.x.size()), again(p.x.size());
          std::vector<C> mean(cols), var(cols);
          std::vector<char> scratch(
              static_cast<size_t>(batch_norm_scratch(dtype_of<T>(), s.rows, s.cols)));
          BatchNormArgs args{p.x.data(),  p.gamma.data(), p.beta.data(), y.data(),
                             mean.data(), var.data(),     s.rows,        s.cols,
                             epsilon,     scratch.data(), threads};
          routines<BatchNormRoutines>(level).training[dtype_of<T>()](args);
          args.y = again.data();
          routines<BatchNormRoutines>(level).inference[dtype_of<T>()](args);
          expect_same_bits(y, again);
          return y;
        },
        [&](const std::vector<T>& y) { expect_close(y, want, slack<T>, s.rows == 1 ? 100 : 4); });
  }
}

TYPED_TEST(NormTest, BatchNormGradientMatchesTheDefinition) {
  using T = TypeParam;
  using C = compute_t<T>;
  for (const NormSizes s : norm_sizes) {
    SCOPED_TRACE(::testing::Message() << s.rows << " " << s.cols);
    const NormProblem<T> p(s);
    const auto n = static_cast<size_t>(s.rows * s.cols), cols = static_cast<size_t>(s.cols);
    on_every_level(
        [&](Level level, int threads) {
          std::vector<T> out(n + 2 * cols);
          std::vector<C> mean(cols), var(cols);
          std::vector<char> scratch(
              static_cast<size_t>(batch_norm_scratch(dtype_of<T>(), s.rows, s.cols)));
          routines<BatchNormRoutines>(level).training[dtype_of<T>()](
              {p.x.data(), nullptr, nullptr, out.data(), mean.data(), var.data(), s.rows, s.cols,
               epsilon, scratch.data(), threads});
          routines<BatchNormRoutines>(level).grad[dtype_of<T>()](
              {p.x.data(), p.gamma.data(), p.dy.data(), mean.data(), var.data(), out.data(),
               out.data() + n, out.data() + n + cols, s.rows, s.cols, epsilon, scratch.data(),
               threads});
          return out;
        },
        [&](const std::vector<T>& out) {
          expect_close(out, naive_grad(p, true, true), slack<T>, s.rows == 1 ? 100 : 30);
        });
  }
}

}  // namespace
}  // namespace keratin::cpu
