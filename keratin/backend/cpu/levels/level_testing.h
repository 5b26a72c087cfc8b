#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "keratin/backend/cpu/levels.h"
#include "keratin/tensor/dtype.h"
#include "keratin/tensor/elements.h"

// What the tests of routines share: data, comparison, and the loop over levels and thread counts.
namespace keratin::cpu {

// Random numbers that the storage type can hold.
template <class T>
std::vector<T> random_values(int64_t count, unsigned seed, double low = -2, double high = 2) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& v : values) v = convert<T>(uniform(engine));
  return values;
}

template <class T>
double value_of(T v) {
  return static_cast<double>(static_cast<compute_t<T>>(v));
}

// What one rounding to the storage type may cost, relative to the value.
template <class T>
constexpr double rounding() {
  if constexpr (std::is_same_v<T, double>) return 0x1p-52;
  if constexpr (std::is_same_v<T, float>) return 0x1p-23;
  if constexpr (std::is_same_v<T, Half>) return 0x1p-10;
  if constexpr (std::is_same_v<T, BFloat16>) return 0x1p-7;
  return 0;
}

// Compares with values computed in double; `slack` is in roundings of the storage type, relative to
// the largest magnitude of the two and `scale`.
template <class T>
void expect_close(const std::vector<T>& got, const std::vector<double>& want, double slack,
                  double scale = 1) {
  ASSERT_EQ(got.size(), want.size());
  int shown = 0;
  for (size_t i = 0; i < got.size() && shown < 5; ++i) {
    const double g = value_of(got[i]);
    if (std::isnan(g) && std::isnan(want[i])) continue;
    if (g == want[i]) continue;
    const double bound = slack * rounding<T>() * std::max(std::abs(want[i]), scale);
    if (std::abs(g - want[i]) <= bound) continue;
    ADD_FAILURE() << "at " << i << ": expected " << want[i] << ", got " << g << " (bound " << bound
                  << ")";
    ++shown;
  }
}

template <class T>
void expect_same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  if (a.empty()) return;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)), 0);
}

// Calls run(level, threads), which returns what a routine wrote, for every level; checks that the
// number of threads changes no bit, and then calls check(result).
template <class Run, class Check>
void on_every_level(const Run& run, const Check& check) {
  for (const Level level : levels()) {
    SCOPED_TRACE(::testing::Message() << "level v" << static_cast<int>(level) + 2);
    const auto alone = run(level, 1);
    for (const int threads : {2, 3}) {
      if (threads == 3 && level != levels().back()) continue;  // teams above the cores are slow
      SCOPED_TRACE(::testing::Message() << "threads " << threads);
      expect_same_bits(run(level, threads), alone);
    }
    check(alone);
  }
}

template <class T>
class FloatRoutines : public ::testing::Test {};
using FloatStorage = ::testing::Types<double, float, Half, BFloat16>;
using IntegerStorage = ::testing::Types<int8_t, uint8_t, int32_t, int64_t>;
using NumberStorage =
    ::testing::Types<double, float, Half, BFloat16, int8_t, uint8_t, int32_t, int64_t>;

}  // namespace keratin::cpu
