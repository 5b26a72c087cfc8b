#include "keratin/ops/promote.h"

#include <gtest/gtest.h>

#include "keratin/ops/pointwise.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::expect_values;

using enum DType;

TEST(Promote, PairsAsInKeras) {
  const struct {
    DType a, b, both;
  } cases[] = {{f32, f32, f32},     {f32, f64, f64},  {f16, bf16, f32}, {f16, f32, f32},
               {i32, f16, f16},     {i64, f32, f32},  {u8, bf16, bf16}, {boolean, f16, f16},
               {boolean, i32, i32}, {i32, i64, i64},  {i8, i32, i32},   {u8, i8, i32},
               {i64, f64, f64},     {f64, bf16, f64}, {boolean, u8, u8}};
  for (const auto& c : cases) {
    EXPECT_EQ(promoted(c.a, c.b), c.both) << c.a << " and " << c.b;
    EXPECT_EQ(promoted(c.b, c.a), c.both) << c.b << " and " << c.a;
  }
}

TEST(Promote, NumbersCountLess) {
  EXPECT_EQ(promoted_with_number(i8, true), i8);
  EXPECT_EQ(promoted_with_number(boolean, true), i32);
  EXPECT_EQ(promoted_with_number(i64, false), f32);
  EXPECT_EQ(promoted_with_number(f16, false), f16);
  EXPECT_EQ(promoted_with_number(f64, true), f64);
}

TEST(Promote, CastsWhatDiffers) {
  expect_values(
      [](const Values& in) {
        const Values both = promote(in);
        return Values{both[0] + both[1]};
      },
      {Tensor::of<double>(i32, {2}, {1, 2}), Tensor::of<double>(f32, {2}, {0.5, 0.25})},
      {Tensor::of<double>(f32, {2}, {1.5, 2.25})});
  EXPECT_TRUE(promote({}).empty());
}

}  // namespace
}  // namespace keratin::ops
