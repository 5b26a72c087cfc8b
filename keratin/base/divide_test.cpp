#include "keratin/base/divide.h"

#include <gtest/gtest.h>

#include <cmath>

namespace keratin {
namespace {

TEST(Divide, RoundsDownAndUp) {
  for (int64_t a = -9; a <= 9; ++a)
    for (const int64_t b : {-4, -3, -1, 1, 2, 3, 5}) {
      const double exact = static_cast<double>(a) / static_cast<double>(b);
      EXPECT_EQ(floor_div(a, b), std::floor(exact)) << a << " / " << b;
      EXPECT_EQ(ceil_div(a, b), std::ceil(exact)) << a << " / " << b;
    }
}

}  // namespace
}  // namespace keratin
