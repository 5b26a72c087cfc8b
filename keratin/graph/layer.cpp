#include "keratin/graph/layer.h"

#include "keratin/base/text.h"
#include "keratin/graph/build_scope.h"

namespace keratin {

// The tensors come before the masks and options of a call.
std::vector<std::string_view> Layer::argument_names() const {
  std::vector<std::string_view> names;
  for (const std::string_view name : call_arguments()) {
    if (name == "training" || name == "mask" || name.ends_with("_mask")) break;
    names.push_back(name);
  }
  if (names.empty()) names.emplace_back("inputs");
  return names;
}

Json Layer::get_config() const {
  Json config = Json::Object{
      {"name", name()}, {"trainable", trainable()}, {"dtype", dtype_policy().to_json()}};
  if (options_.activity_regularizer)
    config["activity_regularizer"] = options_.activity_regularizer.to_json();
  for (const auto& [key, value] : own_config().as_object()) config[key] = value;
  return config;
}

void Layer::ensure_built(const Shapes& inputs) {
  if (built()) return;
  require(!inputs.empty(), "layer '", name(), "': expected a tensor, got none");
  // A wrapper builds its layer before it calls it, so the shapes are not checked yet.
  if (inputs.size() == input_specs_.size()) check_inputs(inputs);
  const BuildScope scope(*this);
  build(inputs);
  built_with_ = inputs;
  set_built();
}

Masks Layer::compute_mask(const Call& c, size_t outputs) const {
  Masks masks(outputs);
  if (!supports_masking()) return masks;
  const Masks given = c.masks();
  // Keras 2 gives one mask to every output, Keras 3 to the first.
  const bool broadcast = c.dialect() == Dialect::keras2 && given.size() == 1;
  for (size_t i = 0; i < outputs; ++i)
    if (broadcast || i < given.size()) masks[i] = given[broadcast ? 0 : i];
  return masks;
}

NodePtr Layer::add_node(Arguments<SymbolicTensor> arguments, std::vector<OutputSpec> outputs) {
  auto node = std::make_shared<const CallNode>(shared_from_this(), call_count_++,
                                               std::move(arguments), std::move(outputs));
  nodes_.push_back(node);
  return node;
}

std::vector<NodePtr> Layer::inbound_nodes() const {
  std::vector<NodePtr> alive;
  for (const auto& node : nodes_)
    if (auto held = node.lock()) alive.push_back(std::move(held));
  return alive;
}

Symbols Layer::operator()(const Symbols& input, const Keywords& named) {
  return call_symbolic({{input}, named});
}

}  // namespace keratin
