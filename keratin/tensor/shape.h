#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>
#include <vector>

#include "keratin/base/export.h"

namespace keratin {

using Dims = std::vector<int64_t>;

inline constexpr int64_t unknown = -1;
inline constexpr size_t max_rank = 8;

// The sizes of a tensor's dimensions; a size may be unknown until a program is specialised.
// Stored inline: shapes are copied all over the compiler.
class KERATIN_API Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  Shape(const Dims& dims) : Shape(std::span(dims)) {}  // NOLINT(google-explicit-constructor)
  explicit Shape(std::span<const int64_t> dims);       // each >= 0 or unknown, at most max_rank

  int64_t rank() const { return rank_; }
  int64_t operator[](int64_t axis) const { return dims_[static_cast<size_t>(axis)]; }
  int64_t back() const { return dims_[static_cast<size_t>(rank_ - 1)]; }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  Dims dims() const { return {begin(), end()}; }

  bool known() const;
  // True if the product of the known sizes fits in 48 bits, so that `count` gives it.
  bool fits() const;
  // The product of the sizes; all must be known, and the product must fit in 48 bits.
  int64_t count() const;
  // The product of the sizes of the axes in [first, last).
  int64_t count(int64_t first, int64_t last) const;
  // Row-major strides, in elements.
  Dims strides() const;

  bool operator==(const Shape& other) const = default;
  size_t hash() const;

 private:
  std::array<int64_t, max_rank> dims_{};
  int64_t rank_ = 0;
};

KERATIN_API std::ostream& operator<<(std::ostream& out, const Shape& shape);

}  // namespace keratin
