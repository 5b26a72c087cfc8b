#include "keratin/layers/gru.h"

#include "keratin/layers/gates.h"
#include "keratin/ops/gru.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

void add_bias(Values& gates, Value bias) {
  const Values biases = ops::split(bias, 3, 0);
  for (size_t g = 0; g < gates.size(); ++g) gates[g] = gates[g] + biases[g];
}

}  // namespace

GRUCellLayer::GRUCellLayer(GRUCellConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  check_config(cfg);
}

Tree<Shape> GRUCellLayer::state_shapes() const { return Tree<Shape>::List{Shape{cfg.units}}; }

Tree<Traced> GRUCellLayer::draw(const Call& c, Value like, const Shape& features) const {
  return draw_masks(c, seed(), gate_dropout(cfg, 3), like, features, Shape{cfg.units},
                    compute_dtype());
}

void GRUCellLayer::build(const Shapes& inputs) {
  build_kernels(cfg, inputs[0], 3);
  const int64_t gates = kernel().shape().back();
  build_bias(cfg, cfg.reset_after ? Shape{2, gates} : Shape{gates}, cfg.bias_initializer);
}

Results GRUCellLayer::call(const Call& c) const {
  const Value x = c.float_input(), h = states(c)[0], w = c.read(recurrent());
  const DrawnMasks masks = step_masks(c, *this, x);
  Values a = gate_matmuls(x, masks.inputs, c.read(kernel()), 3);
  Values s = gate_matmuls(h, masks.states, w, 3);
  if (cfg.use_bias && cfg.reset_after) {
    const Values both = ops::split(c.read(bias()), 2, 0);
    add_bias(a, ops::squeeze(both[0], 0));
    add_bias(s, ops::squeeze(both[1], 0));
  } else if (cfg.use_bias) {
    add_bias(a, c.read(bias()));
  }
  const Value z = cfg.recurrent_activation(c, a[0] + s[0]);
  const Value r = cfg.recurrent_activation(c, a[1] + s[1]);
  Value inner;
  if (cfg.reset_after) {
    inner = r * s[2];
  } else {
    const Value masked = masks.states.empty() ? h : h * masks.states.back();
    inner = ops::matmul(r * masked, ops::split(w, 3, 1)[2]);
  }
  const Value next = z * h + (1.0 - z) * cfg.activation(c, a[2] + inner);
  return stepped(c, next, {next});
}

GRULayer::GRULayer(GRUConfig config, LayerOptions options)
    : RecurrentOf(std::move(config), std::move(options)) {
  cfg.dropout = clamp_rate(cfg.dropout);
  cfg.recurrent_dropout = clamp_rate(cfg.recurrent_dropout);
  make_cell<GRUCellLayer, GRUFields>("gru_cell");
  set_input_spec({{.ndim = 3}});
}

RecurrentOutputs GRULayer::loop(const Call& c, const RecurrentInputs& in) const {
  if (!lowers_to_op(cfg.activation, cfg.recurrent_activation, gate_dropout(cfg, 3), c.training()))
    return RecurrentLayer::loop(c, in);
  const auto& weights = static_cast<const KerasCell&>(*cell());
  const ops::GruOutputs out =
      ops::gru({.x = dropped_sequence(c, *cell(), in.x),
                .h = in.states.flat()[0],
                .kernel = c.read(weights.kernel()),
                .recurrent = c.read(weights.recurrent()),
                .bias = cfg.use_bias ? c.read(weights.bias()) : Value(),
                .mask = in.mask},
               {cfg.go_backwards, cfg.zero_output_for_mask, cfg.reset_after});
  return outputs_of_op(out.ys, {out.h}, in.mask, flags());
}

}  // namespace keratin
