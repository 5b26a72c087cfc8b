#include "keratin/backend/cpu/levels/pack.h"
#include "keratin/tensor/elements.h"

#include "keratin/backend/cpu/levels/level_testing.h"

namespace keratin::cpu {
namespace {

template <class T>
class PackTest : public FloatRoutines<T> {};
TYPED_TEST_SUITE(PackTest, FloatStorage);

struct PackSizes {
  int64_t rows, columns, filled, gap = 0;
};
const PackSizes pack_sizes[] = {{1, 1, 1},       {16, 16, 16}, {7, 5, 9},
                                {33, 17, 32},    {40, 32, 32}, {3, 50, 64, 3},
                                {18, 20, 20, 7}, {19, 10, 16}, {0, 4, 4}};

TYPED_TEST(PackTest, CopiesBothOrders) {
  using T = TypeParam;
  using C = compute_t<T>;
  for (const PackSizes& s : pack_sizes) {
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(::testing::Message() << s.rows << "x" << s.columns << " in " << s.filled
                                        << (transposed ? " transposed" : ""));
      const int64_t row_step = transposed ? 1 : s.columns + 3;
      const int64_t column_step = transposed ? s.rows + 2 : 1;
      const auto from = random_values<T>((s.rows + 2) * (s.columns + 3), 1);
      std::vector<double> want;
      for (int64_t r = 0; r < s.rows; ++r) {
        for (int64_t c = 0; c < s.filled + s.gap; ++c) {
          const auto at = static_cast<size_t>(r * row_step + c * column_step);
          want.push_back(c < s.columns ? value_of(from[at]) : c < s.filled ? 0 : 99);
        }
      }
      for (const Level level : levels()) {
        std::vector<C> to(want.size(), C(99));
        routines<PackRoutines>(level).pack[dtype_of<T>()]({from.data(), to.data(), s.rows,
                                                           s.columns, row_step, column_step,
                                                           s.filled + s.gap, s.filled});
        expect_close(to, want, 0);
      }
    }
  }
}

TYPED_TEST(PackTest, UnpackRoundsBack) {
  using T = TypeParam;
  using C = compute_t<T>;
  const int64_t rows = 3, columns = 21, width = 32, row_step = 25;
  const auto from = random_values<C>(rows * width, 2);
  for (const Level level : levels()) {
    std::vector<T> to(static_cast<size_t>(rows * row_step), convert<T>(7.0));
    routines<PackRoutines>(level).unpack[dtype_of<T>()](
        {from.data(), to.data(), rows, columns, width, row_step});
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < row_step; ++c) {
        const C want = c < columns ? from[static_cast<size_t>(r * width + c)] : C(7);
        EXPECT_EQ(value_of(to[static_cast<size_t>(r * row_step + c)]), value_of(convert<T>(want)));
      }
    }
  }
}

}  // namespace
}  // namespace keratin::cpu
