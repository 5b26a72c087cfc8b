#pragma once

#include <string>
#include <vector>

#include "keratin/tensor/shape.h"

namespace keratin::ops {

// The name of an axis: a letter, or for an axis of "..." its number from the right, as a digit.
using Label = char;
using Labels = std::string;

// An equation of einsum, read for operands of these shapes (UserError where they do not fit):
// every axis has its label, also those of "...".
struct EinsumEquation {
  EinsumEquation(const std::string& text, const std::vector<Shape>& shapes);

  std::vector<Labels> operands;
  Labels result;
  Labels labels;  // all of them, once, and their sizes; some may be unknown
  Dims sizes;

  Dims sizes_of(const Labels& some) const;

 private:
  void note_size(const std::string& text, Label label, int64_t size);
};

}  // namespace keratin::ops
