#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

// Matmuls for the simulated cuBLASLt and cuDNN. Tiles stay in registers, because whole test suites
// run through here; each sum is still computed one by one.
namespace keratin::simulator {

struct Range {
  int64_t first, last;
};

// One of several chunks of a range, of about equal length.
inline Range part_of(int64_t size, int64_t part, int64_t parts) {
  return {size * part / parts, size * (part + 1) / parts};
}

template <class Sum>
struct Lanes {
  typedef Sum Type __attribute__((vector_size(32)));
  static constexpr int64_t count = 32 / sizeof(Sum);
};

// A matrix [depth, columns] in strips of as many columns as there are lanes, in which each row lies
// side by side.
template <class Sum>
class Strips {
 public:
  template <class At>
  Strips(int64_t depth, int64_t columns, const At& at) : depth_(depth), columns_(columns) {
    constexpr int64_t width = Lanes<Sum>::count;
    numbers_.resize(static_cast<size_t>((columns + width - 1) / width * width * depth));
    Sum* to = numbers_.data();
    for (int64_t first = 0; first < columns; first += width)
      for (int64_t k = 0; k < depth; ++k, to += width)
        for (int64_t c = first; c < std::min(first + width, columns); ++c) to[c - first] = at(k, c);
  }

  int64_t columns() const { return columns_; }
  // That begins with a column, from a row on.
  const Sum* strip(int64_t column, int64_t k) const {
    return numbers_.data() + column * depth_ + k * Lanes<Sum>::count;
  }

 private:
  int64_t depth_, columns_;
  std::vector<Sum> numbers_;
};

// A matrix whose rows are `stride` apart.
template <class Number>
struct Rows {
  Number* numbers;
  int64_t count, stride;

  Number* row(int64_t i) const { return numbers + i * stride; }
};

constexpr int64_t rows_of_tile = 4;

// totals[r] += Σ_k left[r][k] · strip[k], in order.
template <class Sum>
void add_tile(const Sum* const (&left)[rows_of_tile], const Sum* strip, int64_t depth,
              typename Lanes<Sum>::Type (&totals)[rows_of_tile]) {
  typename Lanes<Sum>::Type t0 = totals[0], t1 = totals[1], t2 = totals[2], t3 = totals[3], right;
  for (int64_t k = 0; k < depth; ++k) {
    std::memcpy(&right, strip + k * Lanes<Sum>::count, sizeof right);
    t0 += left[0][k] * right;
    t1 += left[1][k] * right;
    t2 += left[2][k] * right;
    t3 += left[3][k] * right;
  }
  totals[0] = t0, totals[1] = t1, totals[2] = t2, totals[3] = t3;
}

// out += left · right, over a chunk of the depth.
template <class Sum>
void add_product(const Rows<const Sum>& left, const Strips<Sum>& right, Range depth,
                 const Rows<Sum>& out) {
  for (int64_t column = 0; column < right.columns(); column += Lanes<Sum>::count) {
    const int64_t wide = std::min(Lanes<Sum>::count, right.columns() - column);
    const size_t bytes = static_cast<size_t>(wide) * sizeof(Sum);
    for (int64_t row = 0; row < left.count; row += rows_of_tile) {
      const int64_t high = std::min(rows_of_tile, left.count - row);
      const Sum* rows[rows_of_tile];  // where there are fewer, the last again
      typename Lanes<Sum>::Type totals[rows_of_tile] = {};
      for (int64_t r = 0; r < rows_of_tile; ++r)
        rows[r] = left.row(row + std::min(r, high - 1)) + depth.first;
      for (int64_t r = 0; r < high; ++r) std::memcpy(&totals[r], out.row(row + r) + column, bytes);
      add_tile(rows, right.strip(column, depth.first), depth.last - depth.first, totals);
      for (int64_t r = 0; r < high; ++r) std::memcpy(out.row(row + r) + column, &totals[r], bytes);
    }
  }
}

}  // namespace keratin::simulator
