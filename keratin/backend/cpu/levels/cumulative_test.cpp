#include "keratin/backend/cpu/levels/cumulative.h"
#include "keratin/backend/cpu/levels/level_testing.h"

namespace keratin::cpu {
namespace {

struct CumulativeSizes {
  int64_t outer, axis, inner;
};
const CumulativeSizes cumulative_sizes[] = {{1, 1, 1}, {3, 20, 1},  {50, 300, 1}, {2, 9, 37},
                                            {4, 5, 2}, {90, 8, 40}, {0, 3, 2},    {2, 0, 3}};

template <class T>
std::vector<double> naive(const std::vector<T>& x, const CumulativeSizes& s, bool product,
                          bool exclusive, bool reverse) {
  std::vector<double> y(x.size());
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t i = 0; i < s.inner; ++i) {
      double total = product;
      for (int64_t k = 0; k < s.axis; ++k) {
        const int64_t at = (o * s.axis + (reverse ? s.axis - 1 - k : k)) * s.inner + i;
        const double v = value_of(x[static_cast<size_t>(at)]);
        const double next = product ? total * v : total + v;
        y[static_cast<size_t>(at)] = exclusive ? total : next;
        total = next;
      }
    }
  }
  return y;
}

template <class T>
class CumulativeTest : public ::testing::Test {};
TYPED_TEST_SUITE(CumulativeTest, NumberStorage);

TYPED_TEST(CumulativeTest, MatchesTheDefinition) {
  using T = TypeParam;
  constexpr bool whole = is_integer(dtype_of<T>());
  for (const CumulativeSizes& s : cumulative_sizes) {
    for (int mode = 0; mode < 8; ++mode) {
      const bool product = mode & 1, exclusive = mode & 2, reverse = mode & 4;
      SCOPED_TRACE(::testing::Message()
                   << s.outer << " " << s.axis << " " << s.inner << " " << mode);
      const double low = !whole ? 0.8 : product && std::is_signed_v<T> ? -1.9 : 0;
      const double high = !whole ? 1.2 : product ? 1.9 : 1.4;
      const auto x = random_values<T>(s.outer * s.axis * s.inner, 1, low, high);
      on_every_level(
          [&](Level level, int threads) {
            std::vector<T> y(x.size());
            (product ? routines<CumulativeRoutines>(level).prod
                     : routines<CumulativeRoutines>(level).sum)[dtype_of<T>()](
                {x.data(), y.data(), s.outer, s.axis, s.inner, exclusive, reverse, threads});
            return y;
          },
          [&](const std::vector<T>& y) {
            expect_close(y, naive(x, s, product, exclusive, reverse), product ? 300 : 40);
          });
    }
  }
}

}  // namespace
}  // namespace keratin::cpu
