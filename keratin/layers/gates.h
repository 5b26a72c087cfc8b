#pragma once

#include "keratin/layers/rnn.h"

// What the cells with gates share: products per gate, and dropout in them.
namespace keratin {

// The dropout of a cell, of what comes in and of the state. A mask is drawn once for a sequence:
// one for all gates, or one for each.
struct CellDropout {
  double inputs = 0, states = 0;
  size_t masks = 1;
};

// As many masks as the dropouts ask for; none where there is no dropout.
struct DrawnMasks {
  Values inputs, states;
};

// Keras's limits: a rate outside [0, 1] is moved into it.
double clamp_rate(double rate);

// Those of a cell with so many gates. Keras applies no rate of 1 there, and recurrent dropout asks
// for a mask per gate.
CellDropout gate_dropout(double dropout, double recurrent_dropout, int64_t implementation,
                         size_t gates);
// Can a loop be one op, with dropout at most of the inputs, the same for all gates?
bool usual_gates(const Activation& activation, const Activation& recurrent_activation,
                 const CellDropout& dropout, bool training);

// The masks as the argument "drawn" has them.
Tree<Traced> draw_masks(const Call& c, const Variable& seed, const CellDropout& dropout, Value like,
                        const Shape& features, const Shape& state, DType dtype);

// The masks of one step: those drawn for the sequence, or for a cell that is called by itself, new
// ones.
DrawnMasks step_masks(const Call& c, const RnnCell& cell, Value x);

// What every built-in cell asks for.
void require_units(int64_t units);
int64_t step_features(const Shape& step, const RnnCell& cell);

// For loops that are one op: the inputs as floats, with the dropout of usual gates; and what the
// layer gives, from the outputs of the steps, where their inputs are, and the states.
Value dropped_sequence(const Call& c, const RnnCell& cell, Value x);
RecurrentOutputs one_op_outputs(Value ys, Values states, Value mask, RecurrentFlags flags);

// x · kernel for each gate, with x masked for all gates or for each.
Values gate_products(Value x, const Values& masks, Value kernel, int64_t gates);

}  // namespace keratin
