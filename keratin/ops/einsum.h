#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

namespace keratin::ops {

struct KERATIN_API EinsumAttrs {
  std::string equation;
  static constexpr auto fields = field_list(field("equation", &EinsumAttrs::equation));
};

// Sums of products in index notation, like NumPy's einsum: "bij,bjk->bik" is
// out[b, i, k] = Σ_j a[b, i, j] · c[b, j, k]. Letters name axes; one that is not in the result is
// summed; a letter twice in one operand takes the diagonal; "..." stands for axes in front that are
// broadcast; without "->" the result has the letters that occur once, in order of the alphabet.
KERATIN_API Value einsum(const std::string& equation, const Values& operands);

}  // namespace keratin::ops
