#pragma once

#include <string_view>

#include "keratin/tensor/shape.h"

namespace keratin {

// True when some assignment of the unknown sizes makes the two equal.
bool compatible(const Shape& a, const Shape& b);

// NumPy broadcasting of two shapes; `who` is named in the error.
Shape broadcast(const Shape& a, const Shape& b, std::string_view who);

// Maps an axis in [-rank, rank) to [0, rank); `who` is named in the error.
int64_t normalize_axis(int64_t axis, int64_t rank, std::string_view who);
// Likewise for a list, sorted, without repeats; an empty list means every axis.
Dims normalize_axes(const Dims& axes, int64_t rank, std::string_view who);

}  // namespace keratin
