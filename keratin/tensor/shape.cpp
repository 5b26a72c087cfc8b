#include "keratin/tensor/shape.h"

#include <algorithm>

#include "keratin/base/hash.h"
#include "keratin/base/text.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin {

namespace {
// Larger products are certainly a mistake or an attack; 2^48 elements leave room for byte sizes.
constexpr int64_t max_count = int64_t{1} << 48;
}  // namespace

Shape::Shape(std::span<const int64_t> dims) : rank_(static_cast<int64_t>(dims.size())) {
  require(dims.size() <= max_rank, "Shape: at most ", max_rank, " dimensions, got ", dims.size());
  std::copy(dims.begin(), dims.end(), dims_.begin());
  for (int64_t size : dims)
    require(size >= 0 || size == unknown, "Shape: a dimension must not be negative, got ", size);
}

bool Shape::known() const {
  return std::none_of(begin(), end(), [](int64_t size) { return size == unknown; });
}

bool Shape::fits() const {
  int64_t product = 1;
  for (int64_t size : *this) {
    if (size == 0 || size == unknown) continue;
    if (product > max_count / size) return false;
    product *= size;
  }
  return true;
}

int64_t Shape::count() const { return count(0, rank_); }

int64_t Shape::count(int64_t first, int64_t last) const {
  require(fits(), "Shape: ", *this, " has too many elements (limit 2^48)");
  int64_t product = 1;
  for (int64_t axis = first; axis < last; ++axis) {
    const int64_t size = (*this)[axis];
    require(size != unknown, "Shape: the number of elements of ", *this, " is not known");
    product *= size;
  }
  return product;
}

Dims Shape::strides() const {
  Dims result(static_cast<size_t>(rank_));
  int64_t stride = 1;
  for (int64_t axis = rank_; axis-- > 0;) {
    result[static_cast<size_t>(axis)] = stride;
    stride *= (*this)[axis];
  }
  return result;
}

size_t Shape::hash() const {
  size_t seed = static_cast<size_t>(rank_);
  for (int64_t size : *this) seed = detail::mix(seed, static_cast<size_t>(size));
  return seed;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) out << ',';
    if (shape[axis] == unknown) {
      out << '?';
    } else {
      out << shape[axis];
    }
  }
  return out << ']';
}

bool compatible(const Shape& a, const Shape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](int64_t x, int64_t y) { return x == y || x == unknown || y == unknown; });
}

Shape broadcast(const Shape& a, const Shape& b, std::string_view who) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Dims dims = longer.dims();
  const int64_t offset = longer.rank() - shorter.rank();
  for (int64_t axis = 0; axis < shorter.rank(); ++axis) {
    int64_t& size = dims[static_cast<size_t>(axis + offset)];
    const int64_t other = shorter[axis];
    if (size == 1) {
      size = other;
    } else if (size == unknown) {
      if (other != 1) size = other;
    } else {
      require(other == size || other == 1 || other == unknown, who, ": shapes ", a, " and ", b,
              " cannot be broadcast together");
    }
  }
  return Shape(dims);
}

int64_t normalize_axis(int64_t axis, int64_t rank, std::string_view who) {
  require(axis >= -rank && axis < rank, who, ": axis must be in [", -rank, ", ", rank,
          ") for a tensor of rank ", rank, ", got ", axis);
  return axis < 0 ? axis + rank : axis;
}

Dims normalize_axes(const Dims& axes, int64_t rank, std::string_view who) {
  Dims result;
  if (axes.empty()) {
    for (int64_t axis = 0; axis < rank; ++axis) result.push_back(axis);
    return result;
  }
  for (int64_t axis : axes) result.push_back(normalize_axis(axis, rank, who));
  std::sort(result.begin(), result.end());
  require(std::adjacent_find(result.begin(), result.end()) == result.end(), who,
          ": an axis is listed twice");
  return result;
}

}  // namespace keratin
