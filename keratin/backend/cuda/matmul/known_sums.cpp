#include "keratin/backend/cuda/matmul/known_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace keratin::cuda {

namespace {

// `count` elements, cycling through `values`.
Tensor repeated(DType dtype, int64_t count, const std::vector<double>& values) {
  const Tensor all(dtype, {count});
  Tensor first = all;  // the same memory
  const int64_t once = std::min(count, static_cast<int64_t>(values.size()));
  for (int64_t i = 0; i < once; ++i) first.set(i, values[static_cast<size_t>(i)]);
  auto* bytes = static_cast<std::byte*>(all.raw());
  for (size_t done = static_cast<size_t>(once) * size_of(dtype); done < all.bytes();) {
    const size_t more = std::min(done, all.bytes() - done);
    std::memcpy(bytes + done, bytes, more);
    done += more;
  }
  return all;
}

// The largest power of two whose sum over `count` elements is at most one; sums are exact.
double share_of(int64_t count) {
  return 1.0 / static_cast<double>(std::bit_ceil(static_cast<uint64_t>(count)));
}

// In a gradient of relu every fourth row is off, and its products are NaN; in the other rows every
// third element is off, another one in each row.
bool is_off(int64_t row) { return row % 4 == 3; }
bool is_on(int64_t row, int64_t column) { return !is_off(row) && (row + column) % 3 != 0; }
constexpr int64_t rows_of_pattern = 12;

int64_t count_on(int64_t rows, int64_t column) {
  int64_t on = 0;
  for (int64_t row = 0; row < rows; ++row) on += is_on(row, column) ? 1 : 0;
  return on;
}

Tensor make_bits(const MatmulShape& s) {
  const int64_t row_bytes = s.bits_of_row() / 8;
  std::vector<double> rows;
  for (int64_t row = 0; row < rows_of_pattern; ++row)
    for (int64_t byte = 0; byte < row_bytes; ++byte) {
      int value = 0;
      for (int64_t c = byte * 8; c < std::min(byte * 8 + 8, s.columns); ++c)
        if (is_on(row, c)) value |= 1 << (c % 8);
      rows.push_back(value);
    }
  return repeated(DType::u8, s.rows * row_bytes, rows);
}

Tensor make_left(const MatmulShape& s, DType dtype, double value) {
  std::vector<double> values;
  for (int64_t row = 0; row < (s.transpose_a ? s.rows : 4); ++row)
    values.insert(values.end(), static_cast<size_t>(s.transpose_a ? 1 : s.depth),
                  is_off(row) ? std::nan("") : value);
  return repeated(dtype, s.rows * s.depth, values);
}

SumCheck of_result(const MatmulShape& s, DType dtype) {
  const double a = share_of(s.depth), b = share_of(s.rows);
  std::vector<double> sums;
  for (int64_t c = 0; c < 3; ++c)
    sums.push_back(static_cast<double>(count_on(s.rows, c) * s.depth) * a * b);
  return {.a = make_left(s, dtype, a),
          .b = repeated(dtype, s.depth * s.columns, {b}),
          .bits = make_bits(s),
          .sums = repeated(dtype, s.columns, sums)};
}

}  // namespace

SumCheck known_sums(const MatmulShape& s, DType dtype) {
  if (s.sum == MatmulSum::of_result) return of_result(s, dtype);
  // A bit that TF32 does not have: sums must include it.
  const double little = dtype == DType::f32 ? std::exp2(-11) : 0;
  std::vector<double> row, sums;
  for (int64_t i = 0; i < s.sums(); ++i) {
    row.push_back((static_cast<double>(1 + i % 3) + little) * share_of(s.depth));
    sums.push_back(row.back() * static_cast<double>(s.depth));
  }
  const Tensor summed = repeated(dtype, s.depth * s.sums(), row);
  const bool of_a = s.sum == MatmulSum::of_a;
  return {.a = of_a ? summed : repeated(dtype, s.rows * s.depth, {1}),
          .b = of_a ? repeated(dtype, s.depth * s.columns, {1}) : summed,
          .bits = {},
          .sums = repeated(dtype, s.sums(), sums)};
}

SumCheck uneven_sums(const MatmulShape& s, DType dtype) {
  constexpr size_t period = 997;  // a prime, so that neighbours in columns differ too
  std::vector<double> values;
  for (size_t i = 0; i < period; ++i) values.push_back(std::sin(static_cast<double>(i * i)));
  return {.a = repeated(dtype, s.rows * s.depth, values),
          .b = repeated(dtype, s.depth * s.columns, values),
          .bits = s.relu_grad ? make_bits(s) : Tensor(),
          .sums = {}};
}

bool are_close(const Tensor& sums, const Tensor& expected) {
  // Partial sums may be rounded to a half type before they are joined.
  const double tolerance = expected.dtype() == DType::f32 ? 5e-5 : 0.02;
  for (int64_t i = 0; i < expected.count(); ++i)
    if (!(std::abs(sums.at(i) - expected.at(i)) <= tolerance * (0.1 + expected.at(i))))
      return false;
  return true;
}

}  // namespace keratin::cuda
