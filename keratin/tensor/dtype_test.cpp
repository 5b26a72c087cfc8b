#include "keratin/tensor/dtype.h"
#include "keratin/tensor/elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace keratin {
namespace {

TEST(DType, NamesParseBack) {
  for (DType dtype : all_dtypes) EXPECT_EQ(parse_dtype(detail::text(dtype)), dtype);
  for (const char* wrong : {"", "f", "f128", "F32", "f32 ", "boolean"})
    EXPECT_EQ(parse_dtype(wrong), std::nullopt) << wrong;
}

TEST(DType, SizesAreThoseOfTheStorage) {
  for (DType dtype : all_dtypes)
    dispatch(dtype, [&](auto tag) {
      using S = typename decltype(tag)::type;
      EXPECT_EQ(size_of(dtype), sizeof(S));
      EXPECT_EQ(dtype_of<S>(), dtype);
      EXPECT_EQ(is_float(dtype), std::is_floating_point_v<compute_t<S>>);
      EXPECT_EQ(is_integer(dtype), (std::is_integral_v<S> && !std::is_same_v<S, bool>));
    });
}

// Every half float there is: through float and back it is itself, NaN stays NaN.
TEST(DType, HalvesSurviveFloat) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    Half half;
    half.bits = static_cast<uint16_t>(bits);
    const auto wide = static_cast<float>(half);
    const uint32_t exponent = (bits >> 10) & 31, fraction = bits & 1023;
    if (exponent == 31 && fraction != 0) {
      ASSERT_TRUE(std::isnan(wide)) << bits;
      ASSERT_TRUE(std::isnan(static_cast<float>(Half(wide)))) << bits;
      continue;
    }
    const double expected = exponent == 31 ? INFINITY
                            : exponent == 0
                                ? std::ldexp(fraction, -24)
                                : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
    ASSERT_EQ(std::abs(wide), expected) << bits;
    ASSERT_EQ(std::signbit(wide), (bits & 0x8000) != 0) << bits;
    ASSERT_EQ(Half(wide).bits, bits);
  }
}

TEST(DType, BFloatsSurviveFloat) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    BFloat16 brain;
    brain.bits = static_cast<uint16_t>(bits);
    const auto wide = static_cast<float>(brain);
    if (std::isnan(wide)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(BFloat16(wide)))) << bits;
    } else {
      ASSERT_EQ(BFloat16(wide).bits, bits);
    }
  }
}

// Between every two neighbours: below the middle down, above it up, the middle to the even one.
template <class Small>
void check_rounding(uint32_t infinity) {
  for (uint32_t bits = 0; bits + 1 < infinity; ++bits) {
    Small low, high;
    low.bits = static_cast<uint16_t>(bits);
    high.bits = static_cast<uint16_t>(bits + 1);
    const float a = static_cast<float>(low), b = static_cast<float>(high);
    const float middle = static_cast<float>((static_cast<double>(a) + b) / 2);
    ASSERT_EQ(Small(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(Small(std::nextafter(middle, 0.0F)).bits, bits);
    ASSERT_EQ(Small(std::nextafter(middle, INFINITY)).bits, bits + 1);
  }
}

TEST(DType, StoresRoundToNearestEven) {
  check_rounding<Half>(0x7c00);
  // Below float's own subnormals there is no middle, so these start at its smallest normal.
  for (uint32_t bits = 0x80; bits < 0x7f7f; ++bits) {
    BFloat16 low;
    low.bits = static_cast<uint16_t>(bits);
    const auto middle = std::bit_cast<float>((bits << 16) | 0x8000);
    ASSERT_EQ(BFloat16(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(BFloat16(std::bit_cast<float>((bits << 16) | 0x7fff)).bits, bits);
    ASSERT_EQ(BFloat16(std::bit_cast<float>((bits << 16) | 0x8001)).bits, bits + 1);
  }
  EXPECT_EQ(Half(65519.9F).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0F).bits, 0x7c00);
  EXPECT_EQ(Half(1e30F).bits, 0x7c00);
  EXPECT_EQ(Half(-1e30F).bits, 0xfc00);
  EXPECT_EQ(Half(1e-30F).bits, 0);
  EXPECT_EQ(Half(-1e-30F).bits, 0x8000);
}

TEST(DType, FloatsSaturateAndIntegersWrap) {
  EXPECT_EQ((convert<int8_t>(300.7)), 127);
  EXPECT_EQ((convert<int8_t>(-300.7)), -128);
  EXPECT_EQ((convert<int8_t>(-1.9F)), -1);
  EXPECT_EQ((convert<uint8_t>(-5.0)), 0);
  EXPECT_EQ((convert<int32_t>(1e20F)), 2147483647);
  EXPECT_EQ((convert<int64_t>(INFINITY)), std::numeric_limits<int64_t>::max());
  EXPECT_EQ((convert<int64_t>(-INFINITY)), std::numeric_limits<int64_t>::min());
  EXPECT_EQ((convert<int64_t>(9.3e18)), std::numeric_limits<int64_t>::max());
  EXPECT_EQ((convert<int32_t>(NAN)), 0);
  EXPECT_EQ((convert<int8_t>(int64_t{300})), 44);
  EXPECT_EQ((convert<uint8_t>(int32_t{-1})), 255);
  EXPECT_EQ((convert<bool>(0.5)), true);
  EXPECT_EQ((convert<bool>(NAN)), true);
  EXPECT_EQ((convert<bool>(-0.0)), false);
  EXPECT_EQ((convert<float>(true)), 1.0F);
  EXPECT_EQ((convert<Half>(int32_t{1 << 20}).bits), 0x7c00);
}

}  // namespace
}  // namespace keratin
