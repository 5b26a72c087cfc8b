#include <cmath>
#include <limits>

#include "keratin/backend/cpu/levels/convert.h"
#include "keratin/backend/cpu/levels/level_testing.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu {
namespace {

// Ordinary numbers and the awkward ones: limits, halves, denormals, infinities, NaN.
template <class From>
std::vector<From> samples() {
  std::vector<From> out = random_values<From>(70, 3, -300, 300);
  if constexpr (is_float(dtype_of<From>())) {
    const double awkward[] = {0.0,
                              -0.0,
                              0.5,
                              -0.5,
                              1.5,
                              2.5,
                              127.9,
                              128.0,
                              -128.5,
                              255.5,
                              65504.0,
                              65519.0,
                              65520.0,
                              1e-7,
                              6e-8,
                              2.9e-8,
                              -3.1e-8,
                              1e-5,
                              2147483647.0,
                              2147483648.0,
                              -2147483649.0,
                              1e19,
                              -1e19,
                              1e30,
                              HUGE_VAL,
                              -HUGE_VAL,
                              std::nan(""),
                              1.00048828125,
                              1.0004882812501,
                              1.00390625};
    for (const double v : awkward) {
      out.push_back(convert<From>(v));
    }
  } else if constexpr (!std::is_same_v<From, bool>) {
    out.push_back(std::numeric_limits<From>::min());
    out.push_back(std::numeric_limits<From>::max());
    out.push_back(0);
    out.push_back(static_cast<From>(16777217));
  }
  return out;
}

template <class T>
uint64_t bits_of(T v) {
  uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof(T));
  return bits;
}

template <class From, class To>
void check_pair() {
  SCOPED_TRACE(::testing::Message() << dtype_of<From>() << " to " << dtype_of<To>());
  const std::vector<From> src = samples<From>();
  const auto from = static_cast<size_t>(dtype_of<From>());
  for (const Level level : levels()) {
    // unique_ptr, because a vector of bool is packed
    const auto dst = std::make_unique<To[]>(src.size());
    routines<ConvertRoutines>(level).convert[from][dtype_of<To>()](
        {src.data(), dst.get(), static_cast<int64_t>(src.size()), 2});
    for (size_t i = 0; i < src.size(); ++i) {
      const To want = convert<To>(src[i]);
      if (is_float(dtype_of<To>()) && std::isnan(value_of(want))) {
        EXPECT_TRUE(std::isnan(value_of(dst[i]))) << i;
      } else {
        EXPECT_EQ(bits_of(dst[i]), bits_of(want))
            << "level " << static_cast<int>(level) << " value " << value_of(src[i]);
      }
    }
  }
}

template <class From>
class ConvertTest : public ::testing::Test {};
TYPED_TEST_SUITE(ConvertTest, NumberStorage);

TYPED_TEST(ConvertTest, MatchesTheScalarDefinition) {
  check_pair<TypeParam, double>();
  check_pair<TypeParam, float>();
  check_pair<TypeParam, Half>();
  check_pair<TypeParam, BFloat16>();
  check_pair<TypeParam, int8_t>();
  check_pair<TypeParam, uint8_t>();
  check_pair<TypeParam, int32_t>();
  check_pair<TypeParam, int64_t>();
  check_pair<TypeParam, bool>();
}

TEST(Convert, BooleansBecomeZeroAndOne) {
  const bool src[] = {true, false, true};
  for (const Level level : levels()) {
    Half dst[3];
    routines<ConvertRoutines>(level).convert[static_cast<size_t>(DType::boolean)][DType::f16](
        {src, dst, 3, 1});
    EXPECT_EQ(dst[0].bits, Half(1).bits);
    EXPECT_EQ(dst[1].bits, 0);
  }
}

// Every half and every bfloat16 there is, to float and back.
TEST(Convert, KeepsHalvesThroughARoundTrip) {
  for (const DType half : {DType::f16, DType::bf16}) {
    std::vector<uint16_t> all(65536), back(65536);
    std::vector<float> wide(65536);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
    for (const Level level : levels()) {
      const auto& convert = routines<ConvertRoutines>(level).convert;
      convert[static_cast<size_t>(half)][DType::f32]({all.data(), wide.data(), 65536, 2});
      convert[static_cast<size_t>(DType::f32)][half]({wide.data(), back.data(), 65536, 2});
      for (size_t i = 0; i < all.size(); ++i) {
        if (!std::isnan(wide[i])) {
          ASSERT_EQ(back[i], all[i]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace keratin::cpu
