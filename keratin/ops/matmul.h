#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

namespace keratin::ops {

struct KERATIN_API MatmulAttrs {
  bool transpose_a = false;
  bool transpose_b = false;
  static constexpr auto fields = field_list(field("transpose_a", &MatmulAttrs::transpose_a),
                                            field("transpose_b", &MatmulAttrs::transpose_b));
};

// out[…, m, n] = Σ_k a[…, m, k] · b[…, k, n]. The axes in front are broadcast; a transpose
// swaps the last two axes of its input first. Vectors count as one row or one column, which the
// result does not have.
KERATIN_API Value matmul(Value a, Value b, MatmulAttrs attrs = {});

}  // namespace keratin::ops
