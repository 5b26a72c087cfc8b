#include "keratin/backend/cpu/levels/softmax.h"

#include <cmath>
#include "keratin/backend/cpu/levels/level_testing.h"

namespace keratin::cpu {
namespace {

struct SoftmaxSizes {
  int64_t outer, axis, inner;
};
const SoftmaxSizes softmax_sizes[] = {
    {1, 1, 1},  {3, 10, 1}, {5, 16, 1},   {7, 33, 1}, {2, 1000, 1}, {40, 517, 1}, {2, 3, 2},
    {3, 5, 16}, {2, 9, 37}, {400, 3, 70}, {0, 4, 1},  {4, 0, 3},    {4, 3, 0}};

template <class T>
class SoftmaxTest : public FloatRoutines<T> {};
TYPED_TEST_SUITE(SoftmaxTest, FloatStorage);

// Calls body(offset of the first element, stride) for every slice along the axis.
template <class F>
void each_slice(const SoftmaxSizes& s, const F& body) {
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t i = 0; i < s.inner; ++i) body(o * s.axis * s.inner + i);
  }
}

template <class T>
std::vector<double> naive(const std::vector<T>& x, const SoftmaxSizes& s, bool log) {
  std::vector<double> y(x.size());
  each_slice(s, [&](int64_t at) {
    double peak = -INFINITY, total = 0;
    const auto index = [&](int64_t k) { return static_cast<size_t>(at + k * s.inner); };
    for (int64_t k = 0; k < s.axis; ++k) peak = std::max(peak, value_of(x[index(k)]));
    for (int64_t k = 0; k < s.axis; ++k) total += std::exp(value_of(x[index(k)]) - peak);
    for (int64_t k = 0; k < s.axis; ++k) {
      const double shifted = value_of(x[index(k)]) - peak;
      y[index(k)] = log ? shifted - std::log(total) : std::exp(shifted) / total;
    }
  });
  return y;
}

template <class T>
std::vector<double> naive_grad(const std::vector<T>& y, const std::vector<T>& dy,
                               const SoftmaxSizes& s, bool log) {
  std::vector<double> dx(y.size());
  each_slice(s, [&](int64_t at) {
    double total = 0;
    const auto index = [&](int64_t k) { return static_cast<size_t>(at + k * s.inner); };
    for (int64_t k = 0; k < s.axis; ++k) {
      total += value_of(dy[index(k)]) * (log ? 1 : value_of(y[index(k)]));
    }
    for (int64_t k = 0; k < s.axis; ++k) {
      const double d = value_of(dy[index(k)]), v = value_of(y[index(k)]);
      dx[index(k)] = log ? d - std::exp(v) * total : v * (d - total);
    }
  });
  return dx;
}

TYPED_TEST(SoftmaxTest, MatchesTheDefinition) {
  using T = TypeParam;
  for (const SoftmaxSizes& s : softmax_sizes) {
    SCOPED_TRACE(::testing::Message() << s.outer << " " << s.axis << " " << s.inner);
    const auto x = random_values<T>(s.outer * s.axis * s.inner, 1, -9, 9);
    for (const bool log : {false, true}) {
      on_every_level(
          [&](Level level, int threads) {
            std::vector<T> y(x.size());
            const auto kernel = (log ? routines<SoftmaxRoutines>(level).log_softmax
                                     : routines<SoftmaxRoutines>(level).softmax)[dtype_of<T>()];
            kernel({x.data(), y.data(), s.outer, s.axis, s.inner, threads});
            return y;
          },
          [&](const std::vector<T>& y) { expect_close(y, naive(x, s, log), 12, log ? 4 : 1e-4); });
    }
  }
}

TYPED_TEST(SoftmaxTest, GradientMatchesTheDefinition) {
  using T = TypeParam;
  for (const SoftmaxSizes& s : softmax_sizes) {
    SCOPED_TRACE(::testing::Message() << s.outer << " " << s.axis << " " << s.inner);
    const auto y = random_values<T>(s.outer * s.axis * s.inner, 1, -1, 0);
    const auto dy = random_values<T>(s.outer * s.axis * s.inner, 2, -1, 1);
    for (const bool log : {false, true}) {
      on_every_level(
          [&](Level level, int threads) {
            std::vector<T> dx(y.size());
            const auto kernel =
                (log ? routines<SoftmaxRoutines>(level).log_softmax_grad
                     : routines<SoftmaxRoutines>(level).softmax_grad)[dtype_of<T>()];
            kernel({y.data(), dy.data(), dx.data(), s.outer, s.axis, s.inner, threads});
            return dx;
          },
          [&](const std::vector<T>& dx) { expect_close(dx, naive_grad(y, dy, s, log), 8, 32); });
    }
  }
}

TEST(Softmax, TakesLargeAndInfiniteValues) {
  const std::vector<float> x = {1e4f, 1e4f, -INFINITY, -1e9f};
  for (const Level level : levels()) {
    std::vector<float> y(4);
    routines<SoftmaxRoutines>(level).softmax[DType::f32]({x.data(), y.data(), 1, 4, 1, 1});
    EXPECT_EQ(y, (std::vector<float>{0.5f, 0.5f, 0, 0}));
  }
}

TEST(Softmax, NanSpreadsOverItsRowOnly) {
  const std::vector<float> x = {1, NAN, 2, 0, 0, 0};
  for (const Level level : levels()) {
    std::vector<float> y(6);
    routines<SoftmaxRoutines>(level).softmax[DType::f32]({x.data(), y.data(), 2, 3, 1, 1});
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]) && std::isnan(y[2]));
    EXPECT_NEAR(y[3], 1.0 / 3, 1e-6);
  }
}

}  // namespace
}  // namespace keratin::cpu
