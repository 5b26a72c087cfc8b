#include "keratin/layers/simple_rnn.h"

#include "keratin/layers/gates.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

SimpleRNNCellLayer::SimpleRNNCellLayer(SimpleRNNCellConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  check_config(cfg);
}

Tree<Shape> SimpleRNNCellLayer::state_shapes() const { return Tree<Shape>::List{Shape{cfg.units}}; }

Tree<Traced> SimpleRNNCellLayer::draw(const Call& c, Value like, const Shape& features) const {
  return draw_masks(c, seed(), {cfg.dropout, cfg.recurrent_dropout}, like, features,
                    Shape{cfg.units}, compute_dtype());
}

void SimpleRNNCellLayer::build(const Shapes& inputs) {
  build_kernels(cfg, inputs[0], 1);
  build_bias(cfg, {cfg.units}, cfg.bias_initializer);
}

Results SimpleRNNCellLayer::call(const Call& c) const {
  const Value x = c.float_input(), h = states(c)[0];
  const DrawnMasks masks = step_masks(c, *this, x);
  Value sum = gate_matmuls(x, masks.inputs, c.read(kernel()), 1)[0] +
              gate_matmuls(h, masks.states, c.read(recurrent()), 1)[0];
  if (cfg.use_bias) sum = sum + c.read(bias());
  const Value y = cfg.activation(c, sum);
  return stepped(c, y, {y});
}

SimpleRNNLayer::SimpleRNNLayer(SimpleRNNConfig config, LayerOptions options)
    : RecurrentOf(std::move(config), std::move(options)) {
  cfg.dropout = clamp_rate(cfg.dropout);
  cfg.recurrent_dropout = clamp_rate(cfg.recurrent_dropout);
  make_cell<SimpleRNNCellLayer, SimpleRNNFields>("simple_rnn_cell");
  set_input_spec({{.ndim = 3}});
}

}  // namespace keratin
