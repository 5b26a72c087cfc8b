#pragma once

#include "keratin/layers/rnn.h"

// What Keras's cells share: dropout, weights, and matmuls per gate.
namespace keratin {

// The dropout of a cell, of its input and of its state. Masks are drawn once for a sequence: one
// for all gates, or one for each.
struct CellDropout {
  double inputs = 0, states = 0;
  size_t masks = 1;
};

// The masks of both dropouts; none where the rate is 0.
struct DrawnMasks {
  Values inputs, states;
};

// The dropout of a cell with this many gates. As in Keras, a rate of 1 is not applied there, and
// recurrent dropout has a mask per gate.
CellDropout gate_dropout(double dropout, double recurrent_dropout, int64_t implementation,
                         size_t gates);
template <class Config>
CellDropout gate_dropout(const Config& c, size_t gates) {
  return gate_dropout(c.dropout, c.recurrent_dropout, c.implementation, gates);
}
// True if the layer lowers to the op: it has that op's activations, and no dropout but one mask for
// the inputs of all gates.
bool lowers_to_op(const Activation& activation, const Activation& recurrent_activation,
                  const CellDropout& dropout, bool training);

// The masks in the form of the argument "drawn".
Tree<Traced> draw_masks(const Call& c, const Variable& seed, const CellDropout& dropout, Value like,
                        const Shape& features, const Shape& state, DType dtype);

// The masks of one step: those drawn for the sequence, or new ones for a cell that is called by
// itself.
DrawnMasks step_masks(const Call& c, const RnnCell& cell, Value x);

// For layers that lower to an op: the inputs as floats, after dropout.
Value dropped_sequence(const Call& c, const RnnCell& cell, Value x);
// For layers that lower to an op: the layer's outputs, from those of all steps, the states after
// the last step, and the mask.
RecurrentOutputs outputs_of_op(Value ys, Values states, Value mask, RecurrentFlags flags);

// x · kernel for each gate, with x masked for all gates or for each.
Values gate_matmuls(Value x, const Values& masks, Value kernel, int64_t gates);

// Initializes the bias of each gate of an LSTM separately: ones for the forget gate.
Initializer forget_ones(const Initializer& initializer, int64_t units);

// Moves a rate into [0, 1], as Keras does.
double clamp_rate(double rate);
void require_units(int64_t units);
// The size of the last axis of a step's input, which must be known.
int64_t step_features(const Shape& step, const RnnCell& cell);

template <class Config>
void KerasCell::check_config(Config& config) {
  require_units(config.units);
  check_dropout(config);
}

template <class Config>
void KerasCell::check_dropout(Config& config) {
  config.dropout = clamp_rate(config.dropout);
  config.recurrent_dropout = clamp_rate(config.recurrent_dropout);
  seed_ = add_seed(config.seed);
}

template <class Config>
void KerasCell::build_kernels(const Config& config, const Shape& step, int64_t gates) {
  const int64_t features = step_features(step, *this);
  const int64_t outputs = Shape({gates, config.units}).count();
  add_kernels(config, {features, outputs}, {config.units, outputs});
}

template <class Config>
void KerasCell::add_kernels(const Config& config, const Shape& kernel, const Shape& recurrent) {
  kernel_ = add_weight(
      "kernel", kernel, config.kernel_initializer,
      {.regularizer = config.kernel_regularizer, .constraint = config.kernel_constraint});
  recurrent_ = add_weight(
      "recurrent_kernel", recurrent, config.recurrent_initializer,
      {.regularizer = config.recurrent_regularizer, .constraint = config.recurrent_constraint});
}

template <class Config>
void KerasCell::build_bias(const Config& config, const Shape& shape,
                           const Initializer& initializer) {
  if (config.use_bias)
    bias_ =
        add_weight("bias", shape, initializer,
                   {.regularizer = config.bias_regularizer, .constraint = config.bias_constraint});
}

}  // namespace keratin
