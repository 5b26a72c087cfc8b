#include "keratin/backend/cuda/matmul/known_sums.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace keratin::cuda {
namespace {

// One element of a factor, transposed or not.
double element(const Tensor& factor, bool transposed, int64_t row, int64_t column, int64_t rows,
               int64_t columns) {
  return factor.at(transposed ? column * rows + row : row * columns + column);
}

bool bit_of(const SumCheck& trial, const MatmulShape& s, int64_t row, int64_t column) {
  const int64_t at = row * s.bits_of_row() + column;
  return (static_cast<int>(trial.bits.at(at / 8)) >> (at % 8) & 1) != 0;
}

// The sum that the host computes.
double sum_of(const SumCheck& trial, const MatmulShape& s, int64_t i) {
  double total = 0;
  for (int64_t k = 0; k < s.depth; ++k) {
    if (s.sum == MatmulSum::of_a) total += element(trial.a, s.transpose_a, i, k, s.rows, s.depth);
    if (s.sum == MatmulSum::of_b)
      total += element(trial.b, s.transpose_b, k, i, s.depth, s.columns);
    if (s.sum != MatmulSum::of_result) continue;
    for (int64_t row = 0; row < s.rows; ++row)
      if (bit_of(trial, s, row, i))
        total += element(trial.a, s.transpose_a, row, k, s.rows, s.depth) *
                 element(trial.b, s.transpose_b, k, i, s.depth, s.columns);
  }
  return total;
}

MatmulShape shape_of(MatmulSum sum, int64_t rows, int64_t depth, int64_t columns) {
  const bool of_result = sum == MatmulSum::of_result;
  return {.rows = rows,
          .columns = columns,
          .depth = depth,
          .transpose_a = !of_result,
          .transpose_b = of_result,
          .relu_grad = of_result,
          .sum = sum};
}

TEST(KnownSums, AreTheSumsOfTheFactors) {
  for (const MatmulSum sum : {MatmulSum::of_a, MatmulSum::of_b, MatmulSum::of_result})
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
      for (const auto& [rows, depth, columns] :
           {std::array<int64_t, 3>{5, 7, 3}, {1, 1, 1}, {33, 129, 130}, {64, 8, 200}}) {
        MatmulShape s = shape_of(sum, rows, depth, columns);
        if (sum == MatmulSum::of_result) s.transpose_a = rows == 33;
        const SumCheck trial = known_sums(s, dtype);
        ASSERT_EQ(trial.sums.count(), s.sums());
        Tensor sums(dtype, {s.sums()});
        for (int64_t i = 0; i < s.sums(); ++i) {
          sums.set(i, sum_of(trial, s, i));
          EXPECT_LE(trial.sums.at(i), 4);
        }
        EXPECT_EQ(sums, trial.sums) << static_cast<int>(sum) << ' ' << dtype << ' ' << rows;
      }
}

TEST(KnownSums, ShowPartialSums) {
  const MatmulShape s = shape_of(MatmulSum::of_b, 64, 256, 32);
  const Tensor right = known_sums(s, DType::bf16).sums;
  EXPECT_TRUE(are_close(right, right));
  for (const double factor : {0.0, 0.5, 0.9, 2.0, std::nan("")}) {
    Tensor wrong = right.clone();
    wrong.set(17, factor * right.at(17));
    EXPECT_FALSE(are_close(wrong, right)) << factor;
  }
}

TEST(KnownSums, ShowSumsOfRoundedNumbers) {
  const MatmulShape s = shape_of(MatmulSum::of_b, 64, 256, 32);
  const SumCheck trial = known_sums(s, DType::f32);
  for (int64_t column = 0; column < 3; ++column) {
    Tensor rounded = trial.sums.clone();
    const double whole = std::round(trial.b.at(column) * 256 * 1024) / 1024;  // TF32 has ten bits
    rounded.set(column, whole);
    EXPECT_FALSE(are_close(rounded, trial.sums)) << column;
  }
}

TEST(KnownSums, UnevenFactorsDifferFromTheirNeighbours) {
  const MatmulShape s = shape_of(MatmulSum::of_result, 8, 16, 40);
  const SumCheck trial = uneven_sums(s, DType::f32);
  EXPECT_EQ(trial.a.count(), 8 * 16);
  EXPECT_EQ(trial.b.count(), 16 * 40);
  EXPECT_EQ(trial.bits.count(), 8 * 128 / 8);
  for (int64_t i = 1; i < trial.b.count(); ++i) ASSERT_NE(trial.b.at(i), trial.b.at(i - 1)) << i;
}

}  // namespace
}  // namespace keratin::cuda
