#include "keratin/backend/cpu/levels/reduce.h"

#include <cmath>
#include "keratin/tensor/elements.h"

#include "keratin/backend/cpu/levels/level_testing.h"

namespace keratin::cpu {
namespace {

struct ReduceSizes {
  int64_t outer, axis, inner;
};
const ReduceSizes reduce_sizes[] = {{1, 1, 1},     {3, 10, 1},    {5, 129, 1}, {1, 100003, 1},
                                    {2, 40000, 1}, {70, 300, 1},  {2, 3, 2},   {3, 5, 16},
                                    {2, 9, 37},    {1, 5000, 70}, {4, 300, 5}, {50, 3, 700},
                                    {0, 4, 1},     {4, 0, 3},     {4, 3, 0}};

enum class ReduceOp { sum, prod, max, min };

auto kernel_of(Level level, ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return routines<ReduceRoutines>(level).sum;
    case ReduceOp::prod:
      return routines<ReduceRoutines>(level).prod;
    case ReduceOp::max:
      return routines<ReduceRoutines>(level).max;
    case ReduceOp::min:
      break;
  }
  return routines<ReduceRoutines>(level).min;
}

template <class T>
std::vector<double> naive(const std::vector<T>& x, const ReduceSizes& s, ReduceOp op) {
  std::vector<double> y;
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t i = 0; i < s.inner; ++i) {
      long double sum = 0, prod = 1;
      double max = -INFINITY, min = INFINITY;
      if constexpr (is_integer(dtype_of<T>())) {
        max = static_cast<double>(std::numeric_limits<T>::min());
        min = static_cast<double>(std::numeric_limits<T>::max());
      }
      for (int64_t k = 0; k < s.axis; ++k) {
        const double v = value_of(x[static_cast<size_t>((o * s.axis + k) * s.inner + i)]);
        sum += v, prod *= v, max = std::max(max, v), min = std::min(min, v);
      }
      const long double all[] = {sum, prod, max, min};
      y.push_back(static_cast<double>(all[static_cast<size_t>(op)]));
    }
  }
  return y;
}

template <class T>
std::vector<T> run(const std::vector<T>& x, const ReduceSizes& s, ReduceOp op, Level level,
                   int threads) {
  std::vector<T> y(static_cast<size_t>(s.outer * s.inner));
  std::vector<char> scratch(static_cast<size_t>(reduce_scratch(s.outer, s.axis, s.inner)));
  kernel_of(level, op)[dtype_of<T>()](
      {x.data(), y.data(), s.outer, s.axis, s.inner, scratch.data(), threads});
  return y;
}

template <class T>
class ReduceTest : public FloatRoutines<T> {};
TYPED_TEST_SUITE(ReduceTest, FloatStorage);

TYPED_TEST(ReduceTest, MatchesTheDefinition) {
  using T = TypeParam;
  for (const ReduceSizes& s : reduce_sizes) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min}) {
      SCOPED_TRACE(::testing::Message()
                   << s.outer << " " << s.axis << " " << s.inner << " op " << static_cast<int>(op));
      const bool near_one = op == ReduceOp::prod;
      const auto x = random_values<T>(s.outer * s.axis * s.inner, 1, near_one ? 0.9999 : -0.5,
                                      near_one ? 1.0001 : 1);
      const double slack = op == ReduceOp::max || op == ReduceOp::min ? 0
                           : op == ReduceOp::sum                      ? 4
                                                                      : 60;
      on_every_level([&](Level level, int threads) { return run(x, s, op, level, threads); },
                     [&](const std::vector<T>& y) {
                       expect_close(y, naive(x, s, op), slack, static_cast<double>(s.axis) / 8);
                     });
    }
  }
}

template <class T>
class IntegerReduceTest : public ::testing::Test {};
TYPED_TEST_SUITE(IntegerReduceTest, IntegerStorage);

TYPED_TEST(IntegerReduceTest, MatchesTheDefinition) {
  using T = TypeParam;
  for (const ReduceSizes& s : reduce_sizes) {
    const double low = std::is_signed_v<T> ? -100 : 0;
    const auto x = random_values<T>(s.outer * s.axis * s.inner, 1, low, 100);
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::min}) {
      if (s.axis == 0 && op != ReduceOp::sum) continue;
      on_every_level([&](Level level, int threads) { return run(x, s, op, level, threads); },
                     [&](const std::vector<T>& y) {
                       const auto want = naive(x, s, op);
                       for (size_t i = 0; i < y.size(); ++i) {
                         ASSERT_EQ(y[i], static_cast<T>(static_cast<int64_t>(want[i])));
                       }
                     });
    }
  }
}

TEST(Reduce, NanWinsAndBooleansAreAnyAndAll) {
  std::vector<float> x(100, 1);
  x[57] = NAN;
  const uint8_t flags[] = {1, 0, 1, 1, 0, 0};
  for (const Level level : levels()) {
    EXPECT_TRUE(std::isnan(run(x, {1, 100, 1}, ReduceOp::max, level, 1)[0]));
    EXPECT_TRUE(std::isnan(run(x, {1, 50, 2}, ReduceOp::min, level, 1)[1]));
    uint8_t any[2], all[3];
    routines<ReduceRoutines>(level).max[DType::boolean]({flags, any, 2, 3, 1, nullptr, 1});
    routines<ReduceRoutines>(level).min[DType::boolean]({flags, all, 1, 2, 3, nullptr, 1});
    EXPECT_EQ(any[0] + any[1], 2);
    EXPECT_EQ(all[0], 1);
    EXPECT_EQ(all[1] + all[2], 0);
  }
}

template <class T, class Index>
std::vector<Index> naive_arg(const std::vector<T>& x, const ReduceSizes& s, bool largest) {
  std::vector<Index> out;
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t i = 0; i < s.inner; ++i) {
      int64_t at = 0;
      const auto value = [&](int64_t k) {
        return value_of(x[static_cast<size_t>((o * s.axis + k) * s.inner + i)]);
      };
      for (int64_t k = 1; k < s.axis; ++k) {
        if (std::isnan(value(at))) break;
        const bool better = largest ? value(k) > value(at) : value(k) < value(at);
        if (better || std::isnan(value(k))) at = k;
      }
      out.push_back(static_cast<Index>(at));
    }
  }
  return out;
}

template <class T, class Index>
void check_arg(const std::vector<T>& x, const ReduceSizes& s) {
  for (const bool largest : {false, true}) {
    SCOPED_TRACE(::testing::Message()
                 << s.outer << " " << s.axis << " " << s.inner << " " << largest);
    on_every_level(
        [&](Level level, int threads) {
          std::vector<Index> index(static_cast<size_t>(s.outer * s.inner));
          (largest ? routines<ArgReduceRoutines>(level).argmax
                   : routines<ArgReduceRoutines>(level).argmin)[dtype_of<T>()](
              {x.data(), index.data(), s.outer, s.axis, s.inner, sizeof(Index), threads});
          return index;
        },
        [&](const std::vector<Index>& index) {
          EXPECT_EQ(index, (naive_arg<T, Index>(x, s, largest)));
        });
  }
}

template <class T>
class ArgReduceTest : public ::testing::Test {};
TYPED_TEST_SUITE(ArgReduceTest, NumberStorage);

TYPED_TEST(ArgReduceTest, FindsTheFirst) {
  for (const ReduceSizes& s : reduce_sizes) {
    if (s.axis == 0) continue;
    auto x = random_values<TypeParam>(s.outer * s.axis * s.inner, 1, 0, 20);
    check_arg<TypeParam, int32_t>(x, s);
    check_arg<TypeParam, int64_t>(x, s);
    if constexpr (is_float(dtype_of<TypeParam>())) {
      for (size_t i = 5; i < x.size(); i += 211) x[i] = convert<TypeParam>(std::nan(""));
      check_arg<TypeParam, int32_t>(x, s);
    }
  }
}

}  // namespace
}  // namespace keratin::cpu
