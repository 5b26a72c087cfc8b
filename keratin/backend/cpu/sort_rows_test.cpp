#include "keratin/backend/cpu/sort_rows.h"
#include "keratin/tensor/elements.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "keratin/backend/cpu/levels/level_testing.h"

namespace keratin::cpu {
namespace {

struct SortRowsSizes {
  int64_t rows, cols, keep;
};
const SortRowsSizes sort_rows_sizes[] = {{1, 1, 1},    {3, 10, 10},  {5, 33, 33}, {200, 100, 100},
                                         {7, 1000, 5}, {9, 40, 1},   {2, 50, 0},  {0, 3, 3},
                                         {3, 0, 0},    {300, 64, 10}};

template <class T, class I>
std::vector<I> naive(const std::vector<T>& x, const SortRowsSizes& s, bool descending) {
  std::vector<I> out;
  for (int64_t r = 0; r < s.rows; ++r) {
    std::vector<I> order(static_cast<size_t>(s.cols));
    std::iota(order.begin(), order.end(), I{0});
    const auto value = [&](I i) { return value_of(x[static_cast<size_t>(r * s.cols + i)]); };
    std::stable_sort(order.begin(), order.end(), [&](I a, I b) {
      if (std::isnan(value(a)) || std::isnan(value(b))) {
        return !std::isnan(value(a)) && std::isnan(value(b));
      }
      return descending ? value(a) > value(b) : value(a) < value(b);
    });
    out.insert(out.end(), order.begin(), order.begin() + s.keep);
  }
  return out;
}

template <class T, class I>
void check(const std::vector<T>& x, const SortRowsSizes& s) {
  for (const bool descending : {false, true}) {
    SCOPED_TRACE(::testing::Message() << s.rows << " " << s.cols << " " << s.keep << descending);
    const std::vector<I> want = naive<T, I>(x, s, descending);
    for (const int threads : {1, 2, 3}) {
      SCOPED_TRACE(::testing::Message() << "threads " << threads);
      std::vector<T> values(static_cast<size_t>(s.rows * s.keep));
      std::vector<I> index(values.size());
      std::vector<char> scratch(static_cast<size_t>(sort_scratch(s.cols, threads)));
      sort_rows(dtype_of<T>())({.x = x.data(),
                                .values = values.data(),
                                .index = index.data(),
                                .rows = s.rows,
                                .cols = s.cols,
                                .keep = s.keep,
                                .descending = descending,
                                .index_bytes = sizeof(I),
                                .scratch = scratch.data(),
                                .threads = threads});
      EXPECT_EQ(index, want);
      for (size_t i = 0; i < values.size(); ++i) {
        const size_t row = i / static_cast<size_t>(s.keep);
        const T from = x[row * static_cast<size_t>(s.cols) + static_cast<size_t>(index[i])];
        // NaN and -0.0 count as they are. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
        EXPECT_EQ(std::memcmp(&values[i], &from, sizeof(T)), 0);
      }
    }
  }
}

template <class T>
class SortTest : public ::testing::Test {};
TYPED_TEST_SUITE(SortTest, NumberStorage);

TYPED_TEST(SortTest, IsStableWithNanLast) {
  using T = TypeParam;
  for (const SortRowsSizes& s : sort_rows_sizes) {
    const double low = is_float(dtype_of<T>()) || std::is_signed_v<T> ? -9 : 0;
    auto x = random_values<T>(s.rows * s.cols, 3, low, 9);
    for (T& v : x)
      v = convert<T>(std::trunc(value_of(v)));  // many equal ones, and zeros of both signs
    check<T, int32_t>(x, s);
    check<T, int64_t>(x, s);
    if constexpr (is_float(dtype_of<T>())) {
      for (size_t i = 1; i < x.size(); i += 7) x[i] = convert<T>(std::nan(""));
      check<T, int32_t>(x, s);
    }
  }
}

}  // namespace
}  // namespace keratin::cpu
