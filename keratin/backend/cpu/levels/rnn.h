#pragma once

#include <cstdint>

#include "keratin/backend/cpu/levels/by_dtype.h"

// Recurrent layers over a whole sequence. The matmuls with the input, and those that give the
// gradients of the weights, are single large ones that the caller makes; these routines do what has
// to go step by step. Each thread takes some rows of the batch through all of time without waiting
// for the others. Masks are [batch, time], true to take the step, null to take all of them: a
// masked step keeps the state and repeats the output before it (at first zero), or gives zero when
// zero_masked is set. `reverse` runs from the last step to the first. f32 and f64.
namespace keratin::cpu {

struct RnnShape {
  int64_t batch, time, hidden;
  bool reverse, zero_masked;
};

// z = xw[t] + h u in the order i, f, g, o; i, f, o = sigmoid(z), g = tanh(z); c = f c + i g;
// h = o tanh(c).
struct LstmArgs {
  const void* xw;  // [batch, time, 4 hidden]: x W + bias
  const void* u;   // [hidden, 4 hidden]
  const void* h0;  // [batch, hidden], null for zeros
  const void* c0;
  const bool* mask;
  // Results, each of which may be null; the last three are for the gradient.
  void* y;       // [batch, time, hidden]
  void* h;       // the last state, [batch, hidden]
  void* c;       //
  void* gates;   // i, f, g, o of each step, [batch, time, 4 hidden]; may be xw
  void* cells;   // c after each step, [batch, time, hidden]
  void* states;  // h before each step, [batch, time, hidden]
  RnnShape shape;
  void* scratch;  // rnn_scratch bytes
  int threads;
  void* packed = nullptr;  // u as `pack` leaves it, or null
};

// From dy, dh and dc (each may be null) the gradient of z, which gives dx = dz Wᵀ, dW = xᵀ dz,
// dbias = sum dz and du = statesᵀ dz.
struct LstmGradArgs {
  const void* u;
  const void* c0;
  const bool* mask;
  const void* gates;
  const void* cells;
  const void* dy;
  const void* dh;
  const void* dc;
  void* dz;   // [batch, time, 4 hidden], may be gates
  void* dh0;  // [batch, hidden], or null
  void* dc0;
  RnnShape shape;
  void* scratch;  // rnn_scratch bytes
  int threads;
};

// In the order z, r, g, with s = h u + bias: z = sigmoid(xw + s), r = sigmoid(xw + s),
// g = tanh(xw + r s) (reset after) or tanh(xw + (r h) u) (before); h = z h + (1 - z) g.
struct GruArgs {
  const void* xw;    // [batch, time, 3 hidden]: x W + bias
  const void* u;     // [hidden, 3 hidden]
  const void* bias;  // of the recurrent matmul [3 hidden], or null; reset after only
  const void* h0;    // [batch, hidden], null for zeros
  const bool* mask;
  // Results, each of which may be null; the last two are for the gradient.
  void* y;
  void* h;
  void* gates;   // z, r, g and the recurrent term of g, [batch, time, 4 hidden]
  void* states;  // h before each step, [batch, time, hidden]
  bool reset_after;
  RnnShape shape;
  void* scratch;
  int threads;
  void* packed = nullptr;  // u as `pack` leaves it, or null
};

// dxw is the gradient of xw; ds that of the recurrent sums: du = statesᵀ ds and dbias = sum ds when
// the reset comes after. When it comes before, the last third of ds is that of xw, and its du is
// (r states)ᵀ ds.
struct GruGradArgs {
  const void* u;
  const bool* mask;
  const void* gates;
  const void* states;
  const void* dy;  // may be null
  const void* dh;  // may be null
  void* dxw;       // [batch, time, 3 hidden]
  void* ds;        // [batch, time, 3 hidden]
  void* dh0;       // [batch, hidden], or null
  bool reset_after;
  RnnShape shape;
  void* scratch;
  int threads;
};

// Room for the packed weights and four states per row of the batch, in elements of 8 bytes at most.
inline int64_t rnn_scratch(DType dtype, int64_t batch, int64_t hidden) {
  const int64_t padded = (hidden + 63) / 64 * 64;
  return (padded * 4 * (hidden + 1) + 8 * batch * hidden) * (dtype == DType::f64 ? 8 : 4) + 64;
}

// Room for the packed weights of all gates: whole vectors, of 64 bytes at most.
inline int64_t rnn_packed_bytes(DType dtype, int64_t hidden, int64_t gates) {
  const int64_t size = dtype == DType::f64 ? 8 : 4, lanes = 64 / size;
  return (hidden + lanes - 1) / lanes * lanes * hidden * gates * size;
}

// `pack` writes the weights u to `packed`, from the shape and the number of threads alone.
struct LstmRoutines {
  ByDType<void (*)(const LstmArgs&)> forward, pack;
  ByDType<void (*)(const LstmGradArgs&)> grad;

  static const LstmRoutines v2, v3, v4, portable;
};

struct GruRoutines {
  ByDType<void (*)(const GruArgs&)> forward, pack;
  ByDType<void (*)(const GruGradArgs&)> grad;

  static const GruRoutines v2, v3, v4, portable;
};

}  // namespace keratin::cpu
