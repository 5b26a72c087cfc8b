#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

// Shared by lstm and gru. A layer is the matmul of x and the kernel, for all steps at once, and an
// op that runs step by step. Sequences are [batch, time, …], states [batch, units]; a mask is bool
// [batch, time], true where a step counts.
namespace keratin::ops {

// A masked step keeps the state. Its output is that of the step before (zeros at first), or zeros.
struct RecurrentOptions {
  bool reverse = false;  // from the last step to the first; outputs stay where their inputs are
  bool zero_output_for_mask = false;
};

struct KERATIN_API RecurrentAttrs {
  bool reverse = false;
  bool zero_output_for_mask = false;
  static constexpr auto fields =
      field_list(field("reverse", &RecurrentAttrs::reverse),
                 field("zero_output_for_mask", &RecurrentAttrs::zero_output_for_mask));
};

}  // namespace keratin::ops
