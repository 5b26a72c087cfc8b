#pragma once

#include "keratin/ir/node.h"
#include "keratin/ops/recurrent.h"

// Checks and computations that the records of lstm and gru share.
namespace keratin::ops {

// The sizes of a recurrent node, as far as they are known.
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
Value matmul_of_steps(Value x, Value kernel, Value bias, std::string_view who);
// The initial state of a loop: zeros if undefined.
Value start_state(Value state, Value x, Value recurrent, std::string_view who);

// Σ over batch and time of aᵀ · b.
Value matmul_over_steps(Value a, Value b);
// [batch, time, …] to [time, batch, …] or back.
Value swap_batch_time(Value x);
// A mask as slices for a scan: [time, batch, 1].
Value mask_slices(Value mask);
// The state before each step, given the states after each step.
Value states_before(Value first, Value after, bool reverse);
// mask ? a : b, or a without a mask.
Value keep(Value mask, Value a, Value b);

// The same op on its inputs in f32, with outputs of the node's types: how halves are decomposed.
Values in_f32(const Node& n);

// The operations of the matmuls with h, given a sequence with `gates` numbers per unit; the others
// are few.
double matmul_flops(Value sequence, int64_t gates);

}  // namespace keratin::ops
