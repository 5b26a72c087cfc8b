#include "keratin/graph/layer.h"

#include "keratin/base/text.h"
#include "keratin/graph/build_scope.h"
#include "keratin/graph/functional.h"

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
  path_ = BuildScope::path_of("");
  path_.pop_back();  // the slash
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

std::string Layer::path() const {
  if (!path_.empty()) return path_;
  return built() ? name() : std::string();
}

namespace {

Symbols one_or_list(const std::vector<SymbolicTensor>& tensors) {
  if (tensors.size() == 1) return tensors[0];
  return Symbols::List(tensors.begin(), tensors.end());
}

NodePtr first_call(const Layer& layer, std::string_view what) {
  const std::vector<NodePtr> calls = layer.inbound_nodes();
  require(!calls.empty(), "The layer ", layer.name(),
          " has never been called and thus has no defined ", what, ".");
  return calls[0];
}

}  // namespace

Symbols Layer::input() const {
  if (const auto* model = dynamic_cast<const FunctionalLayer*>(this)) return model->input();
  return one_or_list(first_call(*this, "input")->inputs());
}

Symbols Layer::output() const {
  if (const auto* model = dynamic_cast<const FunctionalLayer*>(this)) return model->output();
  const NodePtr call = first_call(*this, "output");
  std::vector<SymbolicTensor> tensors;
  for (size_t i = 0; i < call->outputs().size(); ++i)
    tensors.push_back(SymbolicTensor::output(call, i));
  return one_or_list(tensors);
}

Symbols Layer::operator()(const Symbols& input, const Keywords& named) {
  return call_symbolic({{input}, named});
}

}  // namespace keratin
