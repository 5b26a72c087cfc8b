#include "keratin/backend/cpu/levels/gather.h"
#include "keratin/backend/cpu/levels/level_testing.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu {
namespace {

struct GatherSizes {
  int64_t outer, axis, inner, count;
};
const GatherSizes gather_sizes[] = {{1, 5, 7, 12},     {1, 3, 64, 500}, {3, 11, 1, 40},
                                    {2, 700, 33, 300}, {4, 6, 130, 90}, {0, 3, 2, 4},
                                    {2, 3, 0, 4},      {2, 3, 4, 0},    {1, 2000, 16, 5000}};

template <class I>
std::vector<I> random_index(int64_t count, int64_t axis) {
  std::mt19937 engine(5);
  std::vector<I> index(static_cast<size_t>(count));
  for (I& i : index) {
    i = static_cast<I>(engine() % static_cast<uint64_t>(axis));
    if (engine() % 4 == 0) i = static_cast<I>(i - axis);  // counted from the end
  }
  return index;
}

template <class I>
int64_t wrapped_index(I index, int64_t axis) {
  return index < 0 ? index + axis : index;
}

template <class T, class I>
void check_gather(const GatherSizes& s) {
  const auto x = random_values<T>(s.outer * s.axis * s.inner, 1);
  const auto n = static_cast<size_t>(s.outer * s.count * s.inner);
  for (const bool along : {false, true}) {
    const auto index = random_index<I>(along ? s.outer * s.count * s.inner : s.count, s.axis);
    std::vector<T> want(n);
    for (int64_t at = 0; at < static_cast<int64_t>(n); ++at) {
      const int64_t i = at % s.inner, j = at / s.inner % s.count, o = at / s.inner / s.count;
      const int64_t k = wrapped_index(index[static_cast<size_t>(along ? at : j)], s.axis);
      want[static_cast<size_t>(at)] = x[static_cast<size_t>((o * s.axis + k) * s.inner + i)];
    }
    on_every_level(
        [&](Level level, int threads) {
          std::vector<T> y(n);
          EXPECT_EQ((along ? routines<GatherRoutines>(level).gather_along
                           : routines<GatherRoutines>(level).gather)(
                        {x.data(), index.data(), y.data(), s.outer, s.axis, s.inner, s.count,
                         sizeof(T), sizeof(I), threads}),
                    -1);
          return y;
        },
        [&](const std::vector<T>& y) { expect_same_bits(y, want); });
  }
}

TEST(Gather, PicksRowsAndElements) {
  for (const GatherSizes& s : gather_sizes) {
    check_gather<uint8_t, int32_t>(s);
    check_gather<Half, int64_t>(s);
    check_gather<float, int32_t>(s);
    check_gather<float, int64_t>(s);
    check_gather<double, int32_t>(s);
  }
}

template <class T, class I>
void check_scatter(const GatherSizes& s) {
  const auto x = random_values<T>(s.outer * s.count * s.inner, 1, -20, 20);
  const auto start = random_values<T>(s.outer * s.axis * s.inner, 2, -20, 20);
  for (const bool along : {false, true}) {
    const auto index = random_index<I>(along ? s.outer * s.count * s.inner : s.count, s.axis);
    std::vector<T> want = start;
    for (int64_t at = 0; at < s.outer * s.count * s.inner; ++at) {
      const int64_t i = at % s.inner, j = at / s.inner % s.count, o = at / s.inner / s.count;
      const int64_t k = wrapped_index(index[static_cast<size_t>(along ? at : j)], s.axis);
      T& to = want[static_cast<size_t>((o * s.axis + k) * s.inner + i)];
      using C = compute_t<T>;
      to = static_cast<T>(
          static_cast<C>(static_cast<C>(to) + static_cast<C>(x[static_cast<size_t>(at)])));
    }
    on_every_level(
        [&](Level level, int threads) {
          std::vector<T> y = start;
          const auto kernel = (along ? routines<GatherRoutines>(level).scatter_add_along
                                     : routines<GatherRoutines>(level).scatter_add)[dtype_of<T>()];
          EXPECT_EQ(kernel({x.data(), index.data(), y.data(), s.outer, s.axis, s.inner, s.count,
                            sizeof(I), threads}),
                    -1);
          return y;
        },
        [&](const std::vector<T>& y) { expect_same_bits(y, want); });
  }
}

TEST(ScatterAdd, AddsInTheOrderOfTheIndex) {
  for (const GatherSizes& s : gather_sizes) {
    check_scatter<float, int32_t>(s);
    check_scatter<float, int64_t>(s);
    check_scatter<double, int32_t>(s);
    check_scatter<Half, int32_t>(s);
    check_scatter<BFloat16, int64_t>(s);
    check_scatter<int8_t, int32_t>(s);
    check_scatter<int32_t, int32_t>(s);
    check_scatter<int64_t, int64_t>(s);
  }
}

TEST(Gather, ReportsTheFirstBadIndexAndWritesNothing) {
  const std::vector<float> x = {1, 2, 3};
  std::vector<int32_t> index(3000, 1);
  for (const int32_t bad : {3, -4, INT32_MAX, INT32_MIN}) {
    index[2100] = bad;
    index[2500] = 9;
    for (const Level level : levels()) {
      std::vector<float> y(3000, 7), sums(3, 7);
      EXPECT_EQ(routines<GatherRoutines>(level).gather(
                    {x.data(), index.data(), y.data(), 1, 3, 1, 3000, 4, 4, 1}),
                2100);
      EXPECT_EQ(y, std::vector<float>(3000, 7));
      EXPECT_EQ(routines<GatherRoutines>(level).scatter_add[DType::f32](
                    {y.data(), index.data(), sums.data(), 1, 3, 1, 3000, 4, 1}),
                2100);
      EXPECT_EQ(sums, std::vector<float>(3, 7));
    }
  }
}

}  // namespace
}  // namespace keratin::cpu
