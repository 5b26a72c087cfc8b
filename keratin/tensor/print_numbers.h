#pragma once

#include <functional>
#include <string>
#include <vector>

#include "keratin/tensor/tensor.h"

namespace keratin {

// How NumPy writes the elements of one array: all in one width, floats with at most 8 digits behind
// the point. `positions` are those of the elements that will be shown; they settle the width.
std::function<std::string(int64_t position)> number_format(const Tensor& tensor,
                                                           const std::vector<int64_t>& positions);

// How NumPy writes one number by itself: "1.0", "1e+16", "True".
std::string scalar_text(const Tensor& tensor, int64_t position);

// The fewest digits that give the same element when read back.
std::string exact_number(const Tensor& tensor, int64_t position);

}  // namespace keratin
