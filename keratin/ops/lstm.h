#pragma once

#include "keratin/base/export.h"
#include "keratin/ops/recurrent.h"

namespace keratin::ops {

struct LstmInputs {
  Value x;          // [batch, time, features]
  Value h, c;       // [batch, units], the initial state; undefined: zeros
  Value kernel;     // [features, 4 · units], gates in the order i, f, g, o
  Value recurrent;  // [units, 4 · units]
  Value bias;       // [4 · units]; undefined: none
  Value mask;       // bool [batch, time]; undefined: every step counts
};

struct LstmOutputs {
  Value ys;    // [batch, time, units]
  Value h, c;  // [batch, units], after the last step
};

// For each step, with σ the sigmoid:
//   i, f, o = σ(x·kernel + h·recurrent + bias), g = tanh(the same)
//   c ← f·c + i·g,  h ← o·tanh(c),  y = h
KERATIN_API LstmOutputs lstm(const LstmInputs& inputs, RecurrentOptions options = {});

// The op `lstm` takes (xw, h0, c0, recurrent[, mask]) with xw = x·kernel + bias and gives (ys, h,
// c, gates, cells, states), the last three for the gradient: i, f, g, o of each step (any finite
// numbers where it is masked), c after it and h before it.
// The op `lstm_grad` takes (c0, recurrent, gates, cells, dys, dh, dc[, mask]) and gives (dxw, dh0,
// dc0).

}  // namespace keratin::ops
