#include "keratin/ops/lstm.h"

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/recurrent_rules.h"
#include "keratin/ops/scan.h"
#include "keratin/ops/slicing.h"

namespace keratin::ops {

namespace {

// The ops' inputs by name; the mask is undefined when there is none.
struct LstmForward {
  explicit LstmForward(const Node& n)
      : xw(n.in(0)),
        h0(n.in(1)),
        c0(n.in(2)),
        recurrent(n.in(3)),
        mask(n.input_count() > 4 ? n.in(4) : Value()) {}
  Value xw, h0, c0, recurrent, mask;
};

struct LstmBackward {
  explicit LstmBackward(const Node& n)
      : c0(n.in(0)),
        recurrent(n.in(1)),
        gates(n.in(2)),
        cells(n.in(3)),
        dys(n.in(4)),
        dh(n.in(5)),
        dc(n.in(6)),
        mask(n.input_count() > 7 ? n.in(7) : Value()) {}
  Value c0, recurrent, gates, cells, dys, dh, dc, mask;
};

Types infer_lstm(const Node& n) {
  require(n.input_count() == 4 || n.input_count() == 5, "lstm: expected 4 or 5 inputs, got ",
          n.input_count());
  const LstmForward in(n);
  const DType dtype = in.xw.dtype();
  const RecurrentSizes s = recurrent_sizes(n, in.xw, 4, in.h0, in.recurrent);
  const Dims state{s.batch, s.units};
  require_input(n, "h", in.h0, state, dtype);
  require_input(n, "c", in.c0, state, dtype);
  require_input(n, "the recurrent kernel", in.recurrent, {s.units, multiple(4, s.units)}, dtype);
  if (in.mask.defined()) require_mask(n, in.mask, s);
  const Shape sequence{s.batch, s.time, s.units};
  return {{dtype, sequence}, {dtype, state},
          {dtype, state},    {dtype, {s.batch, s.time, multiple(4, s.units)}},
          {dtype, sequence}, {dtype, sequence}};
}

Types infer_lstm_grad(const Node& n) {
  require(n.input_count() == 7 || n.input_count() == 8, "lstm_grad: expected 7 or 8 inputs, got ",
          n.input_count());
  const LstmBackward in(n);
  const DType dtype = in.gates.dtype();
  const RecurrentSizes s = recurrent_sizes(n, in.gates, 4, in.c0, in.recurrent);
  for (const Value& state : {in.c0, in.dh, in.dc})
    require_input(n, "a state", state, {s.batch, s.units}, dtype);
  for (const Value& sequence : {in.cells, in.dys})
    require_input(n, "a sequence", sequence, {s.batch, s.time, s.units}, dtype);
  require_input(n, "the recurrent kernel", in.recurrent, {s.units, multiple(4, s.units)}, dtype);
  if (in.mask.defined()) require_mask(n, in.mask, s);
  const Dims state{s.batch, s.units};
  return {{dtype, {s.batch, s.time, multiple(4, s.units)}}, {dtype, state}, {dtype, state}};
}

// True if a masked step repeats an earlier output.
bool repeats(Value mask, const RecurrentAttrs& attrs) {
  return mask.defined() && !attrs.zero_output_for_mask;
}

Values decompose_lstm(const Node& n) {
  if (size_of(n.type().dtype) < 4) return in_f32(n);
  const LstmForward in(n);
  const auto& attrs = n.attr<RecurrentAttrs>();
  const bool remember = repeats(in.mask, attrs);
  Values start{in.h0, in.c0}, xs{swap_batch_time(in.xw)};
  if (remember) start.push_back(zeros_like(in.h0));
  if (in.mask.defined()) xs.push_back(mask_slices(in.mask));
  const auto body = [&](const Values& state, const Values& step) -> Scanned {
    const Value mask = step.size() > 1 ? step[1] : Value();
    const Values z = split(step[0] + matmul(state[0], in.recurrent), 4, 1);
    const Value i = sigmoid(z[0]), f = sigmoid(z[1]), g = tanh(z[2]), o = sigmoid(z[3]);
    const Value next = f * state[1] + i * g, made = o * tanh(next);
    const Value h = keep(mask, made, state[0]), c = keep(mask, next, state[1]);
    const Value y = keep(mask, made, remember ? state[2] : scalar_like(made, 0));
    Values after{h, c};
    if (remember) after.push_back(y);
    return {after, {y, concatenate({i, f, g, o}, 1), c, state[0]}};
  };
  const Scanned all = scan(start, xs, body, {.length = in.xw.shape()[1], .reverse = attrs.reverse});
  return {swap_batch_time(all.ys[0]),
          all.carries[0],
          all.carries[1],
          swap_batch_time(all.ys[1]),
          swap_batch_time(all.ys[2]),
          swap_batch_time(all.ys[3])};
}

Values lstm_gradient(const Node& n, const Values& dy) {
  // Second gradients need those of gates, cells and states, too, which the decomposed loop has.
  for (size_t i = 3; i < dy.size(); ++i)
    if (uniform_value(dy[i]) != 0.0) return {};
  const LstmForward in(n);
  Values inputs{in.c0, in.recurrent, n.out(3), n.out(4), dy[0], dy[1], dy[2]};
  if (in.mask.defined()) inputs.push_back(in.mask);
  const Node& back = emit_node(lstm_grad_op, inputs, n.attrs());
  Values result{back.out(0), back.out(1), back.out(2), matmul_over_steps(n.out(5), back.out(0))};
  result.resize(n.input_count());
  return result;
}

// One step back, with c₀ the cell before it:
//   dh += dy,  do = dh·tanh(c),  dc += dh·o·(1 - tanh²(c)),  di = dc·g,  df = dc·c₀,  dg = dc·i
//   dxw = (di·i(1 - i), df·f(1 - f), dg·(1 - g²), do·o(1 - o)),  dh₀ = dxw·recurrentᵀ,  dc₀ = dc·f
// A masked step propagates dh and dc unchanged; its dy is added at the step whose output it
// repeated.
Scanned lstm_step_back(const Values& state, const Values& step, Value recurrent) {
  const bool remember = state.size() > 2;
  const Value mask = step.size() > 4 ? step[4] : Value();
  const Values gates = split(step[0], 4, 1);
  const Value i = gates[0], f = gates[1], g = gates[2], o = gates[3];
  const Value tanh_c = tanh(step[1]), before = step[2];
  const Value dy = remember ? step[3] + state[2] : step[3];
  const Value dh = state[0] + dy;
  const Value dc = state[1] + dh * o * (1.0 - square(tanh_c));
  const Value dxw = concatenate({dc * g * i * (1.0 - i), dc * before * f * (1.0 - f),
                                 dc * i * (1.0 - square(g)), dh * tanh_c * o * (1.0 - o)},
                                1);
  const Value dh_before = matmul(dxw, recurrent, {.transpose_b = true});
  const Value zero = scalar_like(dxw, 0);
  Values after{keep(mask, dh_before, state[0]), keep(mask, dc * f, state[1])};
  if (remember) after.push_back(keep(mask, zero, dy));
  return {after, {keep(mask, dxw, zero)}};
}

Values decompose_lstm_grad(const Node& n) {
  if (size_of(n.type().dtype) < 4) return in_f32(n);
  const LstmBackward in(n);
  const auto& attrs = n.attr<RecurrentAttrs>();
  Values start{in.dh, in.dc};
  if (repeats(in.mask, attrs)) start.push_back(zeros_like(in.dh));
  Values xs{swap_batch_time(in.gates), swap_batch_time(in.cells),
            swap_batch_time(states_before(in.c0, in.cells, attrs.reverse)),
            swap_batch_time(in.dys)};
  if (in.mask.defined()) xs.push_back(mask_slices(in.mask));
  const Scanned back = scan(start, xs,
                            [&](const Values& state, const Values& step) {
                              return lstm_step_back(state, step, in.recurrent);
                            },
                            {.length = in.gates.shape()[1], .reverse = !attrs.reverse});
  return {swap_batch_time(back.ys[0]), back.carries[0], back.carries[1]};
}

}  // namespace

// See lstm.h.
const OpDef lstm_op{
    .name = "lstm",
    .attrs = attrs_type<RecurrentAttrs>(),
    .infer = infer_lstm,
    .decompose = decompose_lstm,
    .grad = lstm_gradient,
    .flops = [](const Node& n) { return matmul_flops(n.in(0), 4); },
};

const OpDef lstm_grad_op{
    .name = "lstm_grad",
    .attrs = attrs_type<RecurrentAttrs>(),
    .infer = infer_lstm_grad,
    .decompose = decompose_lstm_grad,
    .flops = [](const Node& n) { return matmul_flops(n.in(2), 4); },
};

LstmOutputs lstm(const LstmInputs& in, RecurrentOptions options) {
  require(in.recurrent.defined(), "lstm: x and both kernels must be given");
  const Value xw = matmul_of_steps(in.x, in.kernel, in.bias, "lstm");
  Values inputs{xw, start_state(in.h, in.x, in.recurrent, "lstm"),
                start_state(in.c, in.x, in.recurrent, "lstm"), in.recurrent};
  if (in.mask.defined()) inputs.push_back(in.mask);
  const Node& node =
      emit_node(lstm_op, inputs, RecurrentAttrs{options.reverse, options.zero_output_for_mask});
  return {node.out(0), node.out(1), node.out(2)};
}

}  // namespace keratin::ops
