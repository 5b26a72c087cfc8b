#include "keratin/layers/lstm.h"

#include "keratin/layers/gates.h"
#include "keratin/ops/lstm.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

namespace keratin {

LSTMCellLayer::LSTMCellLayer(LSTMCellConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  check_config(cfg);
}

Tree<Shape> LSTMCellLayer::state_shapes() const {
  return Tree<Shape>::List{Shape{cfg.units}, Shape{cfg.units}};
}

Tree<Traced> LSTMCellLayer::draw(const Call& c, Value like, const Shape& features) const {
  return draw_masks(c, seed(), gate_dropout(cfg, 4), like, features, Shape{cfg.units},
                    compute_dtype());
}

void LSTMCellLayer::build(const Shapes& inputs) {
  build_kernels(cfg, inputs[0], 4);
  build_bias(
      cfg, {kernel().shape().back()},
      cfg.unit_forget_bias ? forget_ones(cfg.bias_initializer, cfg.units) : cfg.bias_initializer);
}

Results LSTMCellLayer::call(const Call& c) const {
  const Value x = c.float_input();
  const Values before = states(c);
  const DrawnMasks masks = step_masks(c, *this, x);
  Values z = gate_matmuls(x, masks.inputs, c.read(kernel()), 4);
  const Values from_state = gate_matmuls(before[0], masks.states, c.read(recurrent()), 4);
  for (size_t g = 0; g < 4; ++g) z[g] = z[g] + from_state[g];
  if (cfg.use_bias) {
    const Values biases = ops::split(c.read(bias()), 4, 0);
    for (size_t g = 0; g < 4; ++g) z[g] = z[g] + biases[g];
  }
  const Value i = cfg.recurrent_activation(c, z[0]), f = cfg.recurrent_activation(c, z[1]);
  const Value o = cfg.recurrent_activation(c, z[3]);
  const Value cell = f * before[1] + i * cfg.activation(c, z[2]);
  const Value h = o * cfg.activation(c, cell);
  return stepped(c, h, {h, cell});
}

LSTMLayer::LSTMLayer(LSTMConfig config, LayerOptions options)
    : RecurrentOf(std::move(config), std::move(options)) {
  cfg.dropout = clamp_rate(cfg.dropout);
  cfg.recurrent_dropout = clamp_rate(cfg.recurrent_dropout);
  make_cell<LSTMCellLayer, LSTMFields>("lstm_cell");
  set_input_spec({{.ndim = 3}});
}

RecurrentOutputs LSTMLayer::loop(const Call& c, const RecurrentInputs& in) const {
  if (!lowers_to_op(cfg.activation, cfg.recurrent_activation, gate_dropout(cfg, 4), c.training()))
    return RecurrentLayer::loop(c, in);
  const auto& weights = static_cast<const KerasCell&>(*cell());
  const Values states = in.states.flat();
  const ops::LstmOutputs out = ops::lstm({.x = dropped_sequence(c, *cell(), in.x),
                                          .h = states[0],
                                          .c = states[1],
                                          .kernel = c.read(weights.kernel()),
                                          .recurrent = c.read(weights.recurrent()),
                                          .bias = cfg.use_bias ? c.read(weights.bias()) : Value(),
                                          .mask = in.mask},
                                         {cfg.go_backwards, cfg.zero_output_for_mask});
  return outputs_of_op(out.ys, {out.h, out.c}, in.mask, flags());
}

}  // namespace keratin
