#include "keratin/ops/recurrent_rules.h"

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

void require_rank(std::string_view who, std::string_view role, Value input, int64_t rank) {
  require(input.rank() == rank, who, ": ", role, " must have rank ", rank, ", got ", input.type());
}

int64_t first_known(int64_t a, int64_t b) { return a != unknown ? a : b; }

Value joined_steps(Value x) { return reshape(x, {x.shape()[0] * x.shape()[1], x.shape()[2]}); }

}  // namespace

RecurrentSizes recurrent_sizes(const Node& n, Value sequence, int64_t gates, Value state,
                               Value recurrent) {
  require(is_float(sequence.dtype()), n.name(), ": expected floats, got ", sequence.type());
  require_rank(n.name(), "the sequence", sequence, 3);
  require_rank(n.name(), "a state", state, 2);
  require_rank(n.name(), "the recurrent kernel", recurrent, 2);
  const RecurrentSizes sizes{first_known(sequence.shape()[0], state.shape()[0]),
                             sequence.shape()[1],
                             first_known(recurrent.shape()[0], state.shape()[1])};
  require_input(n, "the sequence", sequence,
                {sizes.batch, sizes.time, multiple(gates, sizes.units)}, sequence.dtype());
  return sizes;
}

void require_input(const Node& n, std::string_view role, Value input, const Dims& dims,
                   DType dtype) {
  const Type expected{dtype, Shape(dims)};
  require(input.dtype() == expected.dtype && compatible(input.shape(), expected.shape), n.name(),
          ": ", role, " must be ", expected, ", got ", input.type());
}

void require_mask(const Node& n, Value mask, const RecurrentSizes& sizes) {
  require_input(n, "the mask", mask, {sizes.batch, sizes.time}, DType::boolean);
}

Value matmul_of_steps(Value x, Value kernel, Value bias, std::string_view who) {
  require(x.defined() && kernel.defined(), who, ": x and both kernels must be given");
  require_rank(who, "x", x, 3);
  require_rank(who, "the kernel", kernel, 2);
  const int64_t features = x.shape()[2];
  require(x.dtype() == kernel.dtype() && compatible({features}, {kernel.shape()[0]}), who,
          ": the kernel must be ", Type{x.dtype(), {features, kernel.shape()[1]}}, ", got ",
          kernel.type());
  // One large matmul if the sizes are known: a batch of matmuls would have a gradient per item.
  const bool known = x.shape().known() && kernel.shape().known();
  const Value product = known ? reshape(matmul(joined_steps(x), kernel),
                                        {x.shape()[0], x.shape()[1], kernel.shape()[1]})
                              : matmul(x, kernel);
  if (!bias.defined()) return product;
  require(bias.dtype() == x.dtype() && compatible(bias.shape(), {kernel.shape()[1]}), who,
          ": the bias must be ", Type{x.dtype(), {kernel.shape()[1]}}, ", got ", bias.type());
  return product + bias;
}

Value start_state(Value state, Value x, Value recurrent, std::string_view who) {
  if (state.defined()) return state;
  require(x.shape()[0] != unknown && recurrent.rank() == 2 && recurrent.shape()[0] != unknown, who,
          ": without a state the batch and the units must be known, got x ", x.type(),
          " and a recurrent kernel ", recurrent.type());
  return full(x.block(), x.dtype(), {x.shape()[0], recurrent.shape()[0]}, 0);
}

Value matmul_over_steps(Value a, Value b) {
  return matmul(joined_steps(a), joined_steps(b), {.transpose_a = true});
}

Value swap_batch_time(Value x) {
  Dims permutation{1, 0};
  for (int64_t axis = 2; axis < x.rank(); ++axis) permutation.push_back(axis);
  return transpose(x, permutation);
}

Value mask_slices(Value mask) { return expand_dims(swap_batch_time(mask), 2); }

Value states_before(Value first, Value after, bool reverse) {
  const int64_t time = after.shape()[1];
  if (time == 0) return after;
  const Value start = expand_dims(first, 1);
  if (reverse) return concatenate({slice_axis(after, 1, 1, time), start}, 1);
  return concatenate({start, slice_axis(after, 1, 0, time - 1)}, 1);
}

Value keep(Value mask, Value a, Value b) { return mask.defined() ? where(mask, a, b) : a; }

Values in_f32(const Node& n) {
  Values inputs;
  for (const Value& input : n.inputs())
    inputs.push_back(is_float(input.dtype()) ? cast(input, DType::f32) : input);
  Values outputs = emit_node(n.op(), inputs, n.attrs()).outputs();
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = cast(outputs[i], n.type(i).dtype);
  return outputs;
}

double matmul_flops(Value sequence, int64_t gates) {
  return 2.0 * static_cast<double>(sequence.shape().count()) *
         static_cast<double>(sequence.shape()[2]) / static_cast<double>(gates);
}

}  // namespace keratin::ops
