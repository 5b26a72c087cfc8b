#include "keratin/layers/rnn.h"

#include "keratin/base/text.h"
#include "keratin/layers/rnn_loop.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin {
namespace {

Value cast_to(Value x, DType dtype) { return x.dtype() == dtype ? x : ops::cast(x, dtype); }

// The mask as bool [batch, time].
Value step_mask(const std::optional<Value>& given, const RecurrentLayer& layer) {
  if (!given) return {};
  Value mask = cast_to(*given, DType::boolean);
  if (mask.rank() == 3 && mask.shape()[2] == 1) mask = ops::squeeze(mask, 2);
  require(mask.rank() == 2, layer.class_name(), " '", layer.name(),
          "': the mask must be of shape (batch, timesteps), got ", keras_shape(mask.shape()));
  return mask;
}

}  // namespace

Json detail::batch_major(const Json& config) {
  Json rest = Json::object();
  for (const auto& [key, value] : config.as_object()) {
    if (key != "time_major") rest[key] = value;
    require(key != "time_major" || value.is_null() || !value.as_bool(),
            "a recurrent layer with time_major=True is not supported: sequences are (batch, "
            "timesteps, ...)");
  }
  return rest;
}

void RecurrentLayer::set_cell(CellPtr cell) {
  cell_ = std::move(cell);
  add_sublayer("cell", cell_);
}

void RecurrentLayer::build(const Shapes& inputs) {
  const Shape& sequences = inputs[0];
  require(sequences.rank() >= 2, class_name(), " '", name(),
          "': expected sequences of shape (batch, timesteps, ...), got ", keras_shape(sequences));
  Dims step = sequences.dims();
  step.erase(step.begin() + 1);
  cell_->ensure_built({Shape(step)});
  if (!flags().stateful) return;
  require(sequences[0] != unknown,
          "When using `stateful=True` in a RNN, the batch size must be static. Found dynamic batch "
          "size: sequence.shape=",
          keras_shape(sequences));
  cell_->state_shapes().each([&](const Shape& shape) {
    Dims dims = shape.dims();
    dims.insert(dims.begin(), sequences[0]);
    // Not a weight: states are neither counted nor saved.
    Variable state({.name = "rnn_state",
                    .shape = Shape(dims),
                    .dtype = variable_dtype(),
                    .initializer = "zeros",
                    .trainable = false,
                    .device = device(),
                    .per_sample = true});
    state.set_path(name() + "/rnn_state");
    states_.push_back(std::move(state));
  });
}

void RecurrentLayer::reset_states() const {
  for (const Variable& state : states_) state.assign(Tensor::zeros(state.dtype(), state.shape()));
}

void RecurrentLayer::check_batch(const Call& c, const Shape& sequences) const {
  if (states_.empty() || sequences[0] == unknown) return;
  const int64_t expected = c.read(states_[0]).shape()[0];  // in a replica: its slice
  require(sequences[0] == expected,
          "If an RNN is stateful, the batch size of the input sequences must be the same as the "
          "batch size of the initial state. \n- Expected batch size: ",
          expected, "\n- Received batch size: ", sequences[0]);
}

// The states before the first step: the given ones, those kept from the last batch, or the cell's.
Results RecurrentLayer::start(const Call& c, Value x) const {
  Results states;
  if (const Tree<Traced>& given = c.argument(1); !given.is_none()) {
    states = given.map<Value>([](const Traced& t) { return t.value; });
  } else if (flags().stateful) {
    Values kept;
    for (const Variable& state : states_) kept.push_back(c.read(state));
    states = cell_->state_shapes().pack(kept);
  } else {
    states = cell_->initial_states(c, x);
  }
  const size_t expected = cell_->state_shapes().leaf_count();
  require(states.leaf_count() == expected, class_name(), " '", name(), "': expected ", expected,
          " initial state tensors, got ", states.leaf_count());
  const auto shapes = cell_->state_shapes().flat();
  const Values flat = states.flat();
  for (size_t i = 0; i < flat.size(); ++i) {
    Dims dims = shapes[i].dims();
    dims.insert(dims.begin(), x.shape()[0]);
    require(compatible(flat[i].shape(), Shape(dims)), class_name(), " '", name(),
            "': initial state ", i, " must be of shape ", keras_shape(Shape(dims)), ", got ",
            keras_shape(flat[i].shape()));
  }
  if (states.is_leaf()) states = Results::List{states};
  return states.map<Value>([&](Value s) { return cast_to(s, cell_->compute_dtype()); });
}

Results RecurrentLayer::call(const Call& c) const {
  const Value x = c.input();
  const RecurrentFlags f = flags();
  require(
      !f.unroll || x.shape()[1] != unknown,
      "Cannot unroll a RNN if the time dimension is undefined. \n- If using a Sequential model, "
      "specify the time dimension by passing an `Input()` as your first layer.\n- If using the "
      "functional API, specify the time dimension by passing a `shape` or `batch_shape` "
      "argument to your `Input()`.");
  check_batch(c, x.shape());
  const RecurrentInputs in{x, start(c, x), step_mask(c.mask(), *this)};
  RecurrentOutputs out = loop(c, in);
  for (Value& state : out.states) state = cast_to(state, compute_dtype());
  if (f.stateful)
    for (size_t i = 0; i < states_.size(); ++i) c.update(states_[i], out.states[i]);
  const Value output = cast_to(f.return_sequences ? out.all : out.last, compute_dtype());
  if (!f.return_state) return output;
  Results::List results{output};
  const Results states = in.states.pack(out.states);
  for (const Results& state : states.list()) results.push_back(state);
  return results;
}

// Outputs of all steps have the input's mask; states have none.
Masks RecurrentLayer::compute_mask(const Call& c, size_t outputs) const {
  Masks masks(outputs);
  if (flags().return_sequences) masks[0] = c.mask();
  return masks;
}

RecurrentOutputs RecurrentLayer::loop(const Call& c, const RecurrentInputs& in) const {
  return CellLoop(c, *cell_, in, flags()).run();
}

RNNLayer::RNNLayer(RNNConfig config, LayerOptions options)
    : RecurrentOf(std::move(config), std::move(options)) {
  set_cell(detail::as_cell(cfg.cell, "RNN"));
}

}  // namespace keratin
