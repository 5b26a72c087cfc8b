#pragma once

#include "keratin/ir/operands.h"
#include "keratin/ops/gru.h"
#include "keratin/ops/lstm.h"

// The operands of lstm, gru and their gradients. Sequences are [batch, time, …], states
// [batch, units]; `xw` is x · kernel + bias, `gates` has the gates of each step.
namespace keratin::ops {

template <class T>
struct LstmOperands {
  T xw, h0, c0, recurrent, mask;     // the mask may be absent
  T ys, h, c, gates, cells, states;  // the last three are for the gradient

  static LstmOperands read(OperandReader<T> r) {
    return {.xw = r.input(),
            .h0 = r.input(),
            .c0 = r.input(),
            .recurrent = r.input(),
            .mask = r.optional_input(),
            .ys = r.output(),
            .h = r.output(),
            .c = r.output(),
            .gates = r.output(),
            .cells = r.output(),
            .states = r.output()};
  }
};

template <class T>
struct LstmGradOperands {
  T c0, recurrent, gates, cells, dys, dh, dc, mask;  // the mask may be absent
  T dxw, dh0, dc0;

  static LstmGradOperands read(OperandReader<T> r) {
    return {.c0 = r.input(),
            .recurrent = r.input(),
            .gates = r.input(),
            .cells = r.input(),
            .dys = r.input(),
            .dh = r.input(),
            .dc = r.input(),
            .mask = r.optional_input(),
            .dxw = r.output(),
            .dh0 = r.output(),
            .dc0 = r.output()};
  }
};

template <class T>
struct GruOperands {
  T xw, h0, recurrent, bias, mask;  // the bias of h comes with reset_after; the mask may be absent
  T ys, h, gates, states;           // the last two are for the gradient

  static GruOperands read(OperandReader<T> r) {
    const bool reset_after = r.node().template attr<GruAttrs>().reset_after;
    return {.xw = r.input(),
            .h0 = r.input(),
            .recurrent = r.input(),
            .bias = r.input_if(reset_after),
            .mask = r.optional_input(),
            .ys = r.output(),
            .h = r.output(),
            .gates = r.output(),
            .states = r.output()};
  }
};

template <class T>
struct GruGradOperands {
  T recurrent, gates, states, dys, dh, mask;  // the mask may be absent
  T dxw, ds, dh0;

  static GruGradOperands read(OperandReader<T> r) {
    return {.recurrent = r.input(),
            .gates = r.input(),
            .states = r.input(),
            .dys = r.input(),
            .dh = r.input(),
            .mask = r.optional_input(),
            .dxw = r.output(),
            .ds = r.output(),
            .dh0 = r.output()};
  }
};

}  // namespace keratin::ops
