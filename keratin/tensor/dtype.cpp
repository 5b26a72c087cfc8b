#include "keratin/tensor/dtype.h"

#include <cmath>

namespace keratin {

namespace {
constexpr std::array<std::string_view, 10> names = {"f64", "f32", "f16", "bf16", "i8",
                                                    "u8",  "i32", "i64", "bool", "string"};

std::string_view text_of(DType dtype) { return names[static_cast<size_t>(dtype)]; }

}  // namespace

std::optional<DType> parse_dtype(std::string_view text) {
  for (DType dtype : all_dtypes)
    if (text_of(dtype) == text) return dtype;
  if (text == text_of(DType::string)) return DType::string;
  return std::nullopt;
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << text_of(dtype); }

uint16_t detail::float_to_half_bits(float value) {
  const auto raw = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((raw >> 16) & 0x8000);
  const uint32_t magnitude = raw & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;   // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // rounds to infinity
  if (magnitude < 0x38800000) {                       // subnormal: a multiple of 2^-24
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p24f;
    return sign | static_cast<uint16_t>(std::nearbyint(scaled));
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return sign | static_cast<uint16_t>((rounded - 0x38000000) >> 13);
}

float detail::half_bits_to_float(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t magnitude = bits & 0x7fff;
  float value = 0;
  if (magnitude >= 0x7c00) {
    value = std::bit_cast<float>(0x7f800000u | ((magnitude & 0x3ff) << 13));
  } else if (magnitude < 0x400) {
    value = static_cast<float>(magnitude) * 0x1p-24f;
  } else {
    value = std::bit_cast<float>((magnitude << 13) + 0x38000000u);
  }
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
}

}  // namespace keratin
