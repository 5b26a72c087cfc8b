#include "keratin/layers/gru.h"

#include "keratin/layers/gates.h"
#include "keratin/ops/gru.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

template <class Config>
CellDropout dropout_of(const Config& c) {
  return gate_dropout(c.dropout, c.recurrent_dropout, c.implementation, 3);
}

void add_bias(Values& gates, Value bias) {
  const Values parts = ops::split(bias, 3, 0);
  for (size_t g = 0; g < gates.size(); ++g) gates[g] = gates[g] + parts[g];
}

}  // namespace

GRUCellLayer::GRUCellLayer(GRUCellConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require_units(cfg.units);
  cfg.dropout = clamp_rate(cfg.dropout);
  cfg.recurrent_dropout = clamp_rate(cfg.recurrent_dropout);
  seed_ = add_seed(cfg.seed);
}

Tree<Shape> GRUCellLayer::state_shapes() const { return Tree<Shape>::List{Shape{cfg.units}}; }

Tree<Traced> GRUCellLayer::draw(const Call& c, Value like, const Shape& features) const {
  return draw_masks(c, seed_, dropout_of(cfg), like, features, Shape{cfg.units}, compute_dtype());
}

void GRUCellLayer::build(const Shapes& inputs) {
  const int64_t features = step_features(inputs[0], *this), gates = Shape({3, cfg.units}).count();
  kernel_ =
      add_weight("kernel", {features, gates}, cfg.kernel_initializer,
                 {.regularizer = cfg.kernel_regularizer, .constraint = cfg.kernel_constraint});
  recurrent_ = add_weight(
      "recurrent_kernel", {cfg.units, gates}, cfg.recurrent_initializer,
      {.regularizer = cfg.recurrent_regularizer, .constraint = cfg.recurrent_constraint});
  if (cfg.use_bias)
    bias_ =
        add_weight("bias", cfg.reset_after ? Shape{2, gates} : Shape{gates}, cfg.bias_initializer,
                   {.regularizer = cfg.bias_regularizer, .constraint = cfg.bias_constraint});
}

Results GRUCellLayer::call(const Call& c) const {
  const Value x = c.float_input(), h = states(c)[0], recurrent = c.read(recurrent_);
  const DrawnMasks masks = step_masks(c, *this, x);
  Values a = gate_products(x, masks.inputs, c.read(kernel_), 3);
  Values s = gate_products(h, masks.states, recurrent, 3);
  if (cfg.use_bias && cfg.reset_after) {
    const Values both = ops::split(c.read(bias_), 2, 0);
    add_bias(a, ops::squeeze(both[0], 0));
    add_bias(s, ops::squeeze(both[1], 0));
  } else if (cfg.use_bias) {
    add_bias(a, c.read(bias_));
  }
  const Value z = cfg.recurrent_activation(c, a[0] + s[0]);
  const Value r = cfg.recurrent_activation(c, a[1] + s[1]);
  Value inner;
  if (cfg.reset_after) {
    inner = r * s[2];
  } else {
    const Value masked = masks.states.empty() ? h : h * masks.states.back();
    inner = ops::matmul(r * masked, ops::split(recurrent, 3, 1)[2]);
  }
  const Value next = z * h + (1.0 - z) * cfg.activation(c, a[2] + inner);
  return stepped(c, next, {next});
}

GRULayer::GRULayer(GRUConfig config, LayerOptions options)
    : RecurrentOf(std::move(config), std::move(options)) {
  cfg.dropout = clamp_rate(cfg.dropout);
  cfg.recurrent_dropout = clamp_rate(cfg.recurrent_dropout);
  make_cell<GRUCellLayer>("gru_cell");
  set_input_spec({{.ndim = 3}});
}

RecurrentOutputs GRULayer::loop(const Call& c, const RecurrentInputs& in) const {
  if (!usual_gates(cfg.activation, cfg.recurrent_activation, dropout_of(cfg), c.training()))
    return RecurrentLayer::loop(c, in);
  const auto weights = cell()->own_weights();
  const ops::GruOutputs out =
      ops::gru({.x = dropped_sequence(c, *cell(), in.x),
                .h = in.states.flat()[0],
                .kernel = c.read(weights[0]),
                .recurrent = c.read(weights[1]),
                .bias = cfg.use_bias ? c.read(weights[2]) : Value(),
                .mask = in.mask},
               {cfg.go_backwards, cfg.zero_output_for_mask, cfg.reset_after});
  return one_op_outputs(out.ys, {out.h}, in.mask, flags());
}

}  // namespace keratin
