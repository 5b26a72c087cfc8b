#include "keratin/ops/gru.h"

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/recurrent_rules.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/scan.h"
#include "keratin/ops/slicing.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

// The ops' inputs by name; bias and mask are undefined when there are none.
struct GruForward {
  explicit GruForward(const Node& n) : xw(n.in(0)), h0(n.in(1)), recurrent(n.in(2)) {
    size_t next = 3;
    if (n.attr<GruAttrs>().reset_after) bias = n.in(next++);
    if (n.input_count() > next) mask = n.in(next);
  }
  Value xw, h0, recurrent, bias, mask;
};

struct GruBackward {
  explicit GruBackward(const Node& n)
      : recurrent(n.in(0)),
        gates(n.in(1)),
        states(n.in(2)),
        dys(n.in(3)),
        dh(n.in(4)),
        mask(n.input_count() > 5 ? n.in(5) : Value()) {}
  Value recurrent, gates, states, dys, dh, mask;
};

Types infer_gru(const Node& n) {
  const bool reset_after = n.attr<GruAttrs>().reset_after;
  const size_t least = reset_after ? 4 : 3;
  require(n.input_count() == least || n.input_count() == least + 1, "gru: expected ", least, " or ",
          least + 1, " inputs, got ", n.input_count());
  const GruForward in(n);
  const DType dtype = in.xw.dtype();
  const RecurrentSizes s = recurrent_sizes(n, in.xw, 3, in.h0, in.recurrent);
  const int64_t gates = multiple(3, s.units);
  require_input(n, "h", in.h0, {s.batch, s.units}, dtype);
  require_input(n, "the recurrent kernel", in.recurrent, {s.units, gates}, dtype);
  if (reset_after) require_input(n, "the bias of h", in.bias, {gates}, dtype);
  if (in.mask.defined()) require_mask(n, in.mask, s);
  const Shape sequence{s.batch, s.time, s.units};
  return {{dtype, sequence},
          {dtype, {s.batch, s.units}},
          {dtype, {s.batch, s.time, multiple(4, s.units)}},
          {dtype, sequence}};
}

Types infer_gru_grad(const Node& n) {
  require(n.input_count() == 5 || n.input_count() == 6, "gru_grad: expected 5 or 6 inputs, got ",
          n.input_count());
  const GruBackward in(n);
  const DType dtype = in.gates.dtype();
  const RecurrentSizes s = recurrent_sizes(n, in.gates, 4, in.dh, in.recurrent);
  const int64_t gates = multiple(3, s.units);
  require_input(n, "dh", in.dh, {s.batch, s.units}, dtype);
  for (const Value& sequence : {in.states, in.dys})
    require_input(n, "a sequence", sequence, {s.batch, s.time, s.units}, dtype);
  require_input(n, "the recurrent kernel", in.recurrent, {s.units, gates}, dtype);
  if (in.mask.defined()) require_mask(n, in.mask, s);
  const Shape sums{s.batch, s.time, gates};
  return {{dtype, sums}, {dtype, sums}, {dtype, {s.batch, s.units}}};
}

bool repeats(Value mask, const GruAttrs& attrs) {
  return mask.defined() && !attrs.zero_output_for_mask;
}

// The columns of the recurrent weights that give z and r, and those that give g.
Value update_and_reset(Value recurrent) {
  return slice_axis(recurrent, 1, 0, 2 * recurrent.shape()[0]);
}
Value candidate(Value recurrent) {
  return slice_axis(recurrent, 1, 2 * recurrent.shape()[0], 3 * recurrent.shape()[0]);
}

// z, r, g and s_g of one step.
Values gru_gates(Value xw, Value h, Value recurrent, Value bias) {
  const Values a = split(xw, 3, 1);
  if (bias.defined()) {
    const Values s = split(matmul(h, recurrent) + bias, 3, 1);
    const Value z = sigmoid(a[0] + s[0]), r = sigmoid(a[1] + s[1]);
    return {z, r, tanh(a[2] + r * s[2]), s[2]};
  }
  const Values s = split(matmul(h, update_and_reset(recurrent)), 2, 1);
  const Value z = sigmoid(a[0] + s[0]), r = sigmoid(a[1] + s[1]);
  return {z, r, tanh(a[2] + matmul(r * h, candidate(recurrent))), zeros_like(h)};
}

Values decompose_gru(const Node& n) {
  if (size_of(n.type().dtype) < 4) return in_f32(n);
  const GruForward in(n);
  const auto& attrs = n.attr<GruAttrs>();
  const bool remember = repeats(in.mask, attrs);
  Values start{in.h0}, xs{swap_batch_time(in.xw)};
  if (remember) start.push_back(zeros_like(in.h0));
  if (in.mask.defined()) xs.push_back(mask_slices(in.mask));
  const auto body = [&](const Values& state, const Values& step) -> Scanned {
    const Value mask = step.size() > 1 ? step[1] : Value();
    const Values gates = gru_gates(step[0], state[0], in.recurrent, in.bias);
    const Value made = gates[0] * state[0] + (1.0 - gates[0]) * gates[2];
    const Value y = keep(mask, made, remember ? state[1] : scalar_like(made, 0));
    Values after{keep(mask, made, state[0])};
    if (remember) after.push_back(y);
    return {after, {y, concatenate(gates, 1), state[0]}};
  };
  const Scanned all = scan(start, xs, body, {.length = in.xw.shape()[1], .reverse = attrs.reverse});
  return {swap_batch_time(all.ys[0]), all.carries[0], swap_batch_time(all.ys[1]),
          swap_batch_time(all.ys[2])};
}

Value recurrent_gradient(const Node& n, Value dxw, Value ds) {
  const Value states = n.out(3);
  if (n.attr<GruAttrs>().reset_after) return matmul_over_steps(states, ds);
  const int64_t units = states.shape()[2];
  const Value reset = slice_axis(n.out(2), 2, units, 2 * units) * states;
  return concatenate({matmul_over_steps(states, slice_axis(dxw, 2, 0, 2 * units)),
                      matmul_over_steps(reset, slice_axis(dxw, 2, 2 * units, 3 * units))},
                     1);
}

Values gru_gradient(const Node& n, const Values& dy) {
  // Second gradients need those of gates and states, too, which the decomposed loop has.
  for (size_t i = 2; i < dy.size(); ++i)
    if (uniform_value(dy[i]) != 0.0) return {};
  const GruForward in(n);
  Values inputs{in.recurrent, n.out(2), n.out(3), dy[0], dy[1]};
  if (in.mask.defined()) inputs.push_back(in.mask);
  const Node& back = emit_node(gru_grad_op, inputs, n.attrs());
  const Value dxw = back.out(0), ds = back.out(1);
  Values result{dxw, back.out(2), recurrent_gradient(n, dxw, ds)};
  if (in.bias.defined()) result.push_back(sum(ds, {0, 1}));
  result.resize(n.input_count());
  return result;
}

// One step back, with h₀ the state before it:
//   dh += dy,  da_z = dh·(h₀ - g)·z(1 - z),  da_g = dh·(1 - z)·(1 - g²)
//   reset_after: da_r = da_g·s_g·r(1 - r),  ds = (da_z, da_r, da_g·r),  dh₀ = dh·z + ds·recurrentᵀ
//   else: p = da_g·recurrent_gᵀ,  da_r = p·h₀·r(1 - r),
//         dh₀ = dh·z + p·r + (da_z, da_r)·recurrent_zrᵀ
// A masked step propagates dh unchanged; its dy is added at the step whose output it repeated.
Scanned gru_step_back(const Values& state, const Values& step, Value recurrent, bool reset_after) {
  const bool remember = state.size() > 1;
  const Value mask = step.size() > 3 ? step[3] : Value(), before = step[1];
  const Values gates = split(step[0], 4, 1);
  const Value z = gates[0], r = gates[1], g = gates[2];
  const Value dy = remember ? step[2] + state[1] : step[2];
  const Value dh = state[0] + dy, zero = scalar_like(dy, 0);
  const Value da_z = dh * (before - g) * z * (1.0 - z);
  const Value da_g = dh * (1.0 - z) * (1.0 - square(g));
  const auto times_transposed = [](Value a, Value b) {
    return matmul(a, b, {.transpose_b = true});
  };
  Value dxw, ds, dh_before;
  if (reset_after) {
    const Value da_r = da_g * gates[3] * r * (1.0 - r);
    dxw = concatenate({da_z, da_r, da_g}, 1);
    ds = concatenate({da_z, da_r, da_g * r}, 1);
    dh_before = dh * z + times_transposed(ds, recurrent);
  } else {
    const Value p = times_transposed(da_g, candidate(recurrent));
    const Value da_zr = concatenate({da_z, p * before * r * (1.0 - r)}, 1);
    dxw = concatenate({da_zr, da_g}, 1);
    ds = dxw;
    dh_before = dh * z + p * r + times_transposed(da_zr, update_and_reset(recurrent));
  }
  Values after{keep(mask, dh_before, state[0])};
  if (remember) after.push_back(keep(mask, zero, dy));
  return {after, {keep(mask, dxw, zero), keep(mask, ds, zero)}};
}

Values decompose_gru_grad(const Node& n) {
  if (size_of(n.type().dtype) < 4) return in_f32(n);
  const GruBackward in(n);
  const auto& attrs = n.attr<GruAttrs>();
  Values start{in.dh};
  if (repeats(in.mask, attrs)) start.push_back(zeros_like(in.dh));
  Values xs{swap_batch_time(in.gates), swap_batch_time(in.states), swap_batch_time(in.dys)};
  if (in.mask.defined()) xs.push_back(mask_slices(in.mask));
  const Scanned back = scan(start, xs,
                            [&](const Values& state, const Values& step) {
                              return gru_step_back(state, step, in.recurrent, attrs.reset_after);
                            },
                            {.length = in.gates.shape()[1], .reverse = !attrs.reverse});
  return {swap_batch_time(back.ys[0]), swap_batch_time(back.ys[1]), back.carries[0]};
}

Value row(Value matrix, int64_t index) {
  return squeeze(slice_axis(matrix, 0, index, index + 1), 0);
}

}  // namespace

// See gru.h.
const OpDef gru_op{
    .name = "gru",
    .attrs = attrs_type<GruAttrs>(),
    .infer = infer_gru,
    .decompose = decompose_gru,
    .grad = gru_gradient,
    .flops = [](const Node& n) { return matmul_flops(n.in(0), 3); },
};

const OpDef gru_grad_op{
    .name = "gru_grad",
    .attrs = attrs_type<GruAttrs>(),
    .infer = infer_gru_grad,
    .decompose = decompose_gru_grad,
    .flops = [](const Node& n) { return matmul_flops(n.out(0), 3); },
};

GruOutputs gru(const GruInputs& in, GruOptions options) {
  require(in.recurrent.defined(), "gru: x and both kernels must be given");
  Value x_bias = in.bias, h_bias;
  if (options.reset_after && in.bias.defined()) {
    require(in.bias.rank() == 2 && compatible({in.bias.shape()[0]}, {2}),
            "gru: with reset_after the bias must have two rows, got ", in.bias.type());
    x_bias = row(in.bias, 0);
    h_bias = row(in.bias, 1);
  }
  const Value xw = matmul_of_steps(in.x, in.kernel, x_bias, "gru");
  Values inputs{xw, start_state(in.h, in.x, in.recurrent, "gru"), in.recurrent};
  if (options.reset_after && !h_bias.defined()) {
    const int64_t units = in.recurrent.shape()[0];
    require(units != unknown, "gru: without a bias the units must be known, got ",
            in.recurrent.type());
    h_bias = full(in.x.block(), in.x.dtype(), {3 * units}, 0);
  }
  if (options.reset_after) inputs.push_back(h_bias);
  if (in.mask.defined()) inputs.push_back(in.mask);
  const Node& node = emit_node(
      gru_op, inputs, GruAttrs{options.reverse, options.zero_output_for_mask, options.reset_after});
  return {node.out(0), node.out(1)};
}

}  // namespace keratin::ops
