#pragma once

#include "keratin/ir/node.h"

// What lstm and gru share. A layer is the product of x with the kernel, for all steps at once, and
// an op that goes step by step. Sequences are [batch, time, …], states [batch, units]; a mask is
// bool [batch, time], true where a step counts.
namespace keratin::ops {

// A masked step keeps the state. Its output is that of the step before (zeros at first), or zeros.
struct RecurrentOptions {
  bool reverse = false;  // from the last step to the first; outputs stay where their inputs are
  bool zero_output_for_mask = false;
};

struct RecurrentAttrs {
  bool reverse = false;
  bool zero_output_for_mask = false;
  static constexpr auto fields =
      std::tuple{field("reverse", &RecurrentAttrs::reverse),
                 field("zero_output_for_mask", &RecurrentAttrs::zero_output_for_mask)};
};

// The sizes of a recurrent node, as far as its inputs tell.
struct RecurrentSizes {
  int64_t batch = unknown, time = unknown, units = unknown;
};

// From a sequence with `gates` numbers per unit, a state, and recurrent weights [units, …].
RecurrentSizes recurrent_sizes(const Node& n, Value sequence, int64_t gates, Value state,
                               Value recurrent);
// Checks that an input has this shape, where both are known, and the dtype of the sequence.
void require_input(const Node& n, std::string_view role, Value input, const Dims& dims,
                   DType dtype);
void require_mask(const Node& n, Value mask, const RecurrentSizes& sizes);

// times · size, or unknown.
inline int64_t multiple(int64_t times, int64_t size) {
  return size == unknown ? size : times * size;
}

// x · kernel + bias for every step; an undefined bias adds nothing.
Value product_of_steps(Value x, Value kernel, Value bias, std::string_view who);
// The state that a loop starts from: zeros when undefined.
Value start_state(Value state, Value x, Value recurrent, std::string_view who);

// Σ over batch and time of aᵀ · b.
Value product_over_steps(Value a, Value b);
// [batch, time, …] to [time, batch, …] or back.
Value swap_batch_time(Value x);
// A mask as slices for a scan: [time, batch, 1].
Value mask_slices(Value mask);
// What each step started from, given what it made of it.
Value states_before(Value first, Value after, bool reverse);
// mask ? a : b, or a without a mask.
Value keep(Value mask, Value a, Value b);

// The same op on its inputs in f32, with outputs of the node's types: how halves are decomposed.
Values in_f32(const Node& n);

// The arithmetic of the products with h, from a sequence with `gates` numbers per unit; the rest is
// small beside it.
double product_flops(Value sequence, int64_t gates);

}  // namespace keratin::ops
