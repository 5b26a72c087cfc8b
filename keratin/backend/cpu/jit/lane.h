#pragma once

#include <array>
#include <cstdint>

#include "keratin/tensor/dtype.h"

namespace keratin::cpu {

// How a value sits in a vector register. Half types are f32, small integers are i32 (kept in their
// range), booleans are 32-bit masks of all ones or zeros.
enum class Lane : uint8_t { f32, f64, i32, i64, mask };

constexpr Lane lane_of(DType dtype) {
  constexpr std::array<Lane, 9> lanes = {Lane::f64, Lane::f32, Lane::f32, Lane::f32, Lane::i32,
                                         Lane::i32, Lane::i32, Lane::i64, Lane::mask};
  return lanes[static_cast<size_t>(dtype)];
}
constexpr bool is_wide(Lane lane) { return lane == Lane::f64 || lane == Lane::i64; }
constexpr bool is_real(Lane lane) { return lane == Lane::f32 || lane == Lane::f64; }

}  // namespace keratin::cpu
