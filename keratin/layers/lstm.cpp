#include "keratin/layers/lstm.h"

#include "keratin/layers/gates.h"
#include "keratin/ops/lstm.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

template <class Config>
CellDropout dropout_of(const Config& c) {
  return gate_dropout(c.dropout, c.recurrent_dropout, c.implementation, 4);
}

// The gates' parts of the bias are initialised apart, that of the forget gate as ones.
Initializer forget_ones(const Initializer& initializer, int64_t units) {
  return Initializer([=](const Shape& shape, DType dtype, uint64_t seed) {
    const Tensor first = initializer({units}, dtype, seed);
    const Tensor rest = initializer({2 * units}, dtype, seed + 1);
    Tensor bias = Tensor::full(dtype, shape, 1);
    for (int64_t i = 0; i < units; ++i) bias.set(i, first.at(i));
    for (int64_t i = 0; i < 2 * units; ++i) bias.set(2 * units + i, rest.at(i));
    return bias;
  });
}

}  // namespace

LSTMCellLayer::LSTMCellLayer(LSTMCellConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require_units(cfg.units);
  cfg.dropout = clamp_rate(cfg.dropout);
  cfg.recurrent_dropout = clamp_rate(cfg.recurrent_dropout);
  seed_ = add_seed(cfg.seed);
}

Tree<Shape> LSTMCellLayer::state_shapes() const {
  return Tree<Shape>::List{Shape{cfg.units}, Shape{cfg.units}};
}

Tree<Traced> LSTMCellLayer::draw(const Call& c, Value like, const Shape& features) const {
  return draw_masks(c, seed_, dropout_of(cfg), like, features, Shape{cfg.units}, compute_dtype());
}

void LSTMCellLayer::build(const Shapes& inputs) {
  const int64_t features = step_features(inputs[0], *this), gates = Shape({4, cfg.units}).count();
  kernel_ =
      add_weight("kernel", {features, gates}, cfg.kernel_initializer,
                 {.regularizer = cfg.kernel_regularizer, .constraint = cfg.kernel_constraint});
  recurrent_ = add_weight(
      "recurrent_kernel", {cfg.units, gates}, cfg.recurrent_initializer,
      {.regularizer = cfg.recurrent_regularizer, .constraint = cfg.recurrent_constraint});
  if (cfg.use_bias)
    bias_ = add_weight(
        "bias", {gates},
        cfg.unit_forget_bias ? forget_ones(cfg.bias_initializer, cfg.units) : cfg.bias_initializer,
        {.regularizer = cfg.bias_regularizer, .constraint = cfg.bias_constraint});
}

Results LSTMCellLayer::call(const Call& c) const {
  const Value x = c.float_input();
  const Values before = states(c);
  const DrawnMasks masks = step_masks(c, *this, x);
  Values z = gate_products(x, masks.inputs, c.read(kernel_), 4);
  const Values recurrent = gate_products(before[0], masks.states, c.read(recurrent_), 4);
  for (size_t g = 0; g < 4; ++g) z[g] = z[g] + recurrent[g];
  if (cfg.use_bias) {
    const Values bias = ops::split(c.read(bias_), 4, 0);
    for (size_t g = 0; g < 4; ++g) z[g] = z[g] + bias[g];
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
  make_cell<LSTMCellLayer>("lstm_cell");
  set_input_spec({{.ndim = 3}});
}

RecurrentOutputs LSTMLayer::loop(const Call& c, const RecurrentInputs& in) const {
  if (!usual_gates(cfg.activation, cfg.recurrent_activation, dropout_of(cfg), c.training()))
    return RecurrentLayer::loop(c, in);
  const auto weights = cell()->own_weights();
  const Values states = in.states.flat();
  const ops::LstmOutputs out = ops::lstm({.x = dropped_sequence(c, *cell(), in.x),
                                          .h = states[0],
                                          .c = states[1],
                                          .kernel = c.read(weights[0]),
                                          .recurrent = c.read(weights[1]),
                                          .bias = cfg.use_bias ? c.read(weights[2]) : Value(),
                                          .mask = in.mask},
                                         {cfg.go_backwards, cfg.zero_output_for_mask});
  return one_op_outputs(out.ys, {out.h, out.c}, in.mask, flags());
}

}  // namespace keratin
