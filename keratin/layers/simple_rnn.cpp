#include "keratin/layers/simple_rnn.h"

#include "keratin/layers/gates.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

SimpleRNNCellLayer::SimpleRNNCellLayer(SimpleRNNCellConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require_units(cfg.units);
  cfg.dropout = clamp_rate(cfg.dropout);
  cfg.recurrent_dropout = clamp_rate(cfg.recurrent_dropout);
  seed_ = add_seed(cfg.seed);
}

Tree<Shape> SimpleRNNCellLayer::state_shapes() const { return Tree<Shape>::List{Shape{cfg.units}}; }

Tree<Traced> SimpleRNNCellLayer::draw(const Call& c, Value like, const Shape& features) const {
  return draw_masks(c, seed_, {cfg.dropout, cfg.recurrent_dropout}, like, features,
                    Shape{cfg.units}, compute_dtype());
}

void SimpleRNNCellLayer::build(const Shapes& inputs) {
  const int64_t features = step_features(inputs[0], *this);
  kernel_ =
      add_weight("kernel", {features, cfg.units}, cfg.kernel_initializer,
                 {.regularizer = cfg.kernel_regularizer, .constraint = cfg.kernel_constraint});
  recurrent_ = add_weight(
      "recurrent_kernel", {cfg.units, cfg.units}, cfg.recurrent_initializer,
      {.regularizer = cfg.recurrent_regularizer, .constraint = cfg.recurrent_constraint});
  if (cfg.use_bias)
    bias_ = add_weight("bias", {cfg.units}, cfg.bias_initializer,
                       {.regularizer = cfg.bias_regularizer, .constraint = cfg.bias_constraint});
}

Results SimpleRNNCellLayer::call(const Call& c) const {
  const Value x = c.float_input(), h = states(c)[0];
  const DrawnMasks masks = step_masks(c, *this, x);
  Value sum = gate_products(x, masks.inputs, c.read(kernel_), 1)[0] +
              gate_products(h, masks.states, c.read(recurrent_), 1)[0];
  if (cfg.use_bias) sum = sum + c.read(bias_);
  const Value y = cfg.activation(c, sum);
  return stepped(c, y, {y});
}

SimpleRNNLayer::SimpleRNNLayer(SimpleRNNConfig config, LayerOptions options)
    : RecurrentOf(std::move(config), std::move(options)) {
  cfg.dropout = clamp_rate(cfg.dropout);
  cfg.recurrent_dropout = clamp_rate(cfg.recurrent_dropout);
  make_cell<SimpleRNNCellLayer>("simple_rnn_cell");
  set_input_spec({{.ndim = 3}});
}

}  // namespace keratin
