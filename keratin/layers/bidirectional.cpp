#include "keratin/layers/wrappers.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

std::shared_ptr<RecurrentLayer> as_recurrent(const LayerPtr& layer, std::string_view argument) {
  auto recurrent = std::dynamic_pointer_cast<RecurrentLayer>(layer);
  require(recurrent != nullptr,
          "Please initialize `Bidirectional` layer with a recurrent layer as `", argument,
          "`. Received: ",
          layer ? text(layer->class_name(), " '", layer->name(), "'") : std::string("nothing"));
  return recurrent;
}

// The name with the prefix, unless it has it already.
std::string prefixed(const std::string& prefix, const std::string& name) {
  return name.starts_with(prefix) ? name : prefix + name;
}

Value merged(const std::string& mode, Value a, Value b) {
  if (mode == "concat") return ops::concatenate({a, b}, -1);
  if (mode == "sum") return a + b;
  if (mode == "ave") return (a + b) / 2.0;
  return a * b;
}

// The output and the states of one direction.
struct Direction {
  Value output;
  Results::List states;
};

Direction run_layer(const Call& c, const RecurrentLayer& layer, const Tree<Traced>::List& initial) {
  Arguments<Traced> arguments{{Traced{c.input(), c.mask()}}, {}};
  if (c.mask()) arguments.named.emplace("mask", Tree<Traced>(Traced{*c.mask()}));
  if (!initial.empty()) arguments.positional.emplace_back(initial);
  const Tree<Traced> out = c.invoke(layer, std::move(arguments));
  const auto value = [](const Traced& t) { return t.value; };
  if (!out.is_list()) return {out.leaf().value, {}};
  Direction direction{out[0].leaf().value, {}};
  for (size_t i = 1; i < out.list().size(); ++i)
    direction.states.push_back(out[i].map<Value>(value));
  return direction;
}

}  // namespace

BidirectionalLayer::BidirectionalLayer(BidirectionalConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  const std::vector<Json> modes = {"sum", "mul", "ave", "concat", nullptr};
  require(std::count(modes.begin(), modes.end(), cfg.merge_mode) == 1,
          "Invalid merge mode. Received: ",
          cfg.merge_mode.is_string() ? cfg.merge_mode.as_string() : cfg.merge_mode.dump(),
          ". Merge mode should be one of {\"sum\", \"mul\", \"ave\", \"concat\", None}");
  const auto layer = as_recurrent(cfg.layer, "layer");
  forward_ = layer->variant(prefixed("forward_", layer->name()), layer->flags().go_backwards);
  backward_ = cfg.backward_layer
                  ? as_recurrent(cfg.backward_layer, "backward_layer")
                  : layer->variant(prefixed("backward_", layer->name()), /*go_backwards=*/true);
  check_layers();
  for (const auto& direction : {forward_, backward_})
    direction->set_zero_output_for_mask(direction->flags().return_sequences);
  cfg.layer = forward_;
  cfg.backward_layer = backward_;
  add_sublayer("forward_layer", forward_);
  add_sublayer("backward_layer", backward_);
  set_input_spec(layer->input_specs());
}

void BidirectionalLayer::check_layers() const {
  const RecurrentFlags a = forward_->flags(), b = backward_->flags();
  const auto shown = [](bool flag) { return flag ? "True" : "False"; };
  require(a.go_backwards != b.go_backwards,
          "Forward layer and backward layer should have different `go_backwards` value. Received: "
          "forward_layer.go_backwards ",
          shown(a.go_backwards), ", backward_layer.go_backwards=", shown(b.go_backwards));
  const auto same = [&](const char* attribute, bool forward, bool backward) {
    require(forward == backward,
            "Forward layer and backward layer are expected to have the same value for attribute \"",
            attribute, "\", got \"", shown(forward), "\" for forward layer and \"", shown(backward),
            "\" for backward layer");
  };
  same("stateful", a.stateful, b.stateful);
  same("return_sequences", a.return_sequences, b.return_sequences);
  same("return_state", a.return_state, b.return_state);
}

std::vector<Variable> BidirectionalLayer::states() const {
  std::vector<Variable> all = forward_->states();
  all.insert(all.end(), backward_->states().begin(), backward_->states().end());
  return all;
}

void BidirectionalLayer::reset_states() const {
  require(forward_->flags().stateful, "Bidirectional '", name(), "': Layer must be stateful.");
  forward_->reset_states();
  backward_->reset_states();
}

void BidirectionalLayer::build(const Shapes& inputs) {
  forward_->ensure_built({inputs[0]});
  backward_->ensure_built({inputs[0]});
}

Results BidirectionalLayer::call(const Call& c) const {
  Tree<Traced>::List first, second;
  if (const Tree<Traced>& initial = c.argument(1); !initial.is_none()) {
    require(initial.is_list() && initial.list().size() % 2 == 0, "Bidirectional '", name(),
            "': `initial_state` must be a list of the states of both directions, got ",
            initial.outline());
    const auto middle = initial.list().begin() + static_cast<int64_t>(initial.list().size() / 2);
    first.assign(initial.list().begin(), middle);
    second.assign(middle, initial.list().end());
  }
  Direction forward = run_layer(c, *forward_, first), backward = run_layer(c, *backward_, second);
  const auto cast = [&](Value y) {
    return y.dtype() == compute_dtype() ? y : ops::cast(y, compute_dtype());
  };
  const RecurrentFlags flags = forward_->flags();
  const Value y = cast(forward.output);
  Value y_back = cast(backward.output);
  if (flags.return_sequences) y_back = ops::flip(y_back, {1});

  Results::List results;
  if (cfg.merge_mode.is_null())
    results = {y, y_back};
  else
    results.emplace_back(merged(cfg.merge_mode.as_string(), y, y_back));
  if (flags.return_state)
    for (const Direction* direction : {&forward, &backward})
      results.insert(results.end(), direction->states.begin(), direction->states.end());
  if (results.size() == 1) return results[0];
  return results;
}

Masks BidirectionalLayer::compute_mask(const Call& c, size_t outputs) const {
  Masks masks(outputs);
  if (!forward_->flags().return_sequences) return masks;
  masks[0] = c.mask();
  if (cfg.merge_mode.is_null()) masks[1] = c.mask();
  return masks;
}

}  // namespace keratin
