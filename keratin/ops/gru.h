#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

namespace keratin::ops {

struct KERATIN_API GruAttrs {
  bool reverse = false;
  bool zero_output_for_mask = false;
  bool reset_after = true;
  static constexpr auto fields =
      field_list(field("reverse", &GruAttrs::reverse),
                 field("zero_output_for_mask", &GruAttrs::zero_output_for_mask),
                 field("reset_after", &GruAttrs::reset_after));
};

struct GruInputs {
  Value x;          // [batch, time, features]
  Value h;          // [batch, units], the initial state; undefined: zeros
  Value kernel;     // [features, 3 · units], gates in the order z, r, g
  Value recurrent;  // [units, 3 · units]
  Value bias;  // reset_after: [2, 3 · units], of x and of h; else [3 · units]; may be undefined
  Value mask;  // bool [batch, time]; undefined: every step counts
};

struct GruOptions {
  bool reverse = false;  // as in RecurrentOptions of lstm.h
  bool zero_output_for_mask = false;
  bool reset_after = true;
};

struct GruOutputs {
  Value ys;  // [batch, time, units]
  Value h;   // [batch, units], after the last step
};

// For each step, with σ the sigmoid, a = x·kernel + bias[0] and s = h·recurrent + bias[1], each in
// three parts:
//   z = σ(a_z + s_z), r = σ(a_r + s_r), g = tanh(a_g + r·s_g),  h ← z·h + (1 - z)·g,  y = h
// Without reset_after there is one bias, in a, and g = tanh(a_g + (r·h)·recurrent_g).
KERATIN_API GruOutputs gru(const GruInputs& inputs, GruOptions options = {});

// The op `gru` takes (xw, h0, recurrent[, bias][, mask]) with xw = x·kernel + bias[0] and, with
// reset_after, the bias [3 · units] of h. It gives (ys, h, gates, states), the last two for the
// gradient: z, r, g, s_g of each step, 4 · units (s_g counts with reset_after only; any finite
// numbers where the step is masked), and h before it.
// The op `gru_grad` takes (recurrent, gates, states, dys, dh[, mask]) and gives (dxw, ds, dh0), ds
// the gradient of s, with reset_after; without, that of (s_z, s_r, a_g), which is dxw.

}  // namespace keratin::ops
