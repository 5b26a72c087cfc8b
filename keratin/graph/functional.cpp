#include "keratin/graph/functional.h"

#include <algorithm>
#include <unordered_map>

#include "keratin/base/text.h"
#include "keratin/graph/operation.h"
#include "keratin/graph/topology.h"
#include "keratin/graph/tracer.h"
#include "keratin/ir/node.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin {
namespace {

// A model may begin in the middle of a graph: new inputs are made for it, and the calls between its
// inputs and outputs are repeated on these, with the same layers.
void detach(Symbols& inputs, Symbols& outputs) {
  const std::vector<SymbolicTensor> old_inputs = inputs.flat();
  const auto is_input = [](const SymbolicTensor& t) { return t.node().is_input(); };
  if (std::all_of(old_inputs.begin(), old_inputs.end(), is_input)) return;
  const Topology topology = map_graph(old_inputs, outputs);
  std::unordered_map<SymbolicTensor, Symbols, SymbolicHash> renewed;
  for (const SymbolicTensor& t : old_inputs)
    if (!renewed.contains(t))
      renewed.emplace(
          t,
          is_input(t) ? t : InputLayer::make(t.shape(), t.dtype(), t.name() + "CLONE")->output());
  const auto lookup = [&](const SymbolicTensor& t) {
    const auto found = renewed.find(t);
    // A call that computes one of the inputs is not repeated, so its other outputs are missing.
    require(found != renewed.end(), "`inputs` not connected to `outputs`: '", t.name(),
            "' of layer '", t.layer()->name(), "' does not come from them");
    return found->second;
  };
  for (const NodePtr& node : topology.nodes) {
    if (node->is_input() || renewed.contains(SymbolicTensor::output(node, 0))) continue;
    const Symbols results =
        node->layer()->call_symbolic(node->arguments().map<SymbolicTensor>(lookup));
    const auto flat = results.flat();
    for (size_t i = 0; i < flat.size(); ++i)
      renewed.emplace(SymbolicTensor::output(node, i), flat[i]);
  }
  inputs = inputs.map<SymbolicTensor>(lookup);
  outputs = outputs.map<SymbolicTensor>(lookup);
}

// A trailing dimension of one may be missing or added, as in Keras.
Value fit(Value x, size_t index, const SymbolicTensor& input, const std::string& model) {
  const Shape& wanted = input.shape();
  if (x.rank() == wanted.rank() + 1 && x.shape().back() == 1)
    x = ops::squeeze(x, -1);
  else if (x.rank() + 1 == wanted.rank() && wanted.back() == 1)
    x = ops::expand_dims(x, -1);
  // The batch may have another size than the input was declared with.
  Dims any_batch = wanted.dims();
  if (!any_batch.empty()) any_batch[0] = unknown;
  require(compatible(x.shape(), any_batch), "Input ", index, " with name '", input.name(),
          "' of layer '", model,
          "' is incompatible with the layer: expected shape=", keras_shape(wanted),
          ", found shape=", keras_shape(x.shape()));
  return x.dtype() == input.dtype() ? x : ops::cast(x, input.dtype());
}

bool optional_input(const SymbolicTensor& t) {
  const auto* layer = dynamic_cast<const InputLayer*>(t.layer().get());
  return layer != nullptr && layer->optional();
}

std::string names_of(const std::vector<SymbolicTensor>& tensors) {
  std::string names;
  for (const SymbolicTensor& t : tensors) names += (names.empty() ? "'" : ", '") + t.name() + "'";
  return names;
}

[[noreturn]] void missing_data(const std::string& input, const Tree<Traced>& given,
                               const std::vector<SymbolicTensor>& inputs) {
  std::string keys;
  for (const auto& item : given.dict()) keys += (keys.empty() ? "'" : ", '") + item.first + "'";
  fail("Missing data for input \"", input, "\". You passed a data dictionary with keys [", keys,
       "]. Expected the following keys: [", names_of(inputs), "]");
}

// The argument for each input of a model, in order; a dict is matched by the inputs' names.
std::vector<Tree<Traced>> match(const FunctionalLayer& model, const Tree<Traced>& given) {
  const std::vector<SymbolicTensor> inputs = model.inputs();
  std::vector<Tree<Traced>> values;
  if (given.is_dict() && !model.input().is_dict()) {
    for (const SymbolicTensor& t : inputs) {
      const auto found = given.dict().find(t.name());
      if (found == given.dict().end() && !optional_input(t)) missing_data(t.name(), given, inputs);
      values.push_back(found == given.dict().end() ? Tree<Traced>() : found->second);
    }
    return values;
  }
  if (given.is_dict() && model.input().is_dict()) {
    for (const auto& [key, wanted] : model.input().dict()) {
      const auto found = given.dict().find(key);
      if (found == given.dict().end()) {
        if (!wanted.is_leaf() || !optional_input(wanted.leaf())) missing_data(key, given, inputs);
        values.emplace_back();
        continue;
      }
      found->second.each([&](const Traced& t) { values.emplace_back(t); });
      if (found->second.is_none()) values.emplace_back();
    }
  } else if (given.is_list()) {
    for (const auto& item : given.list()) {
      if (item.is_none()) values.emplace_back();
      item.each([&](const Traced& t) { values.emplace_back(t); });
    }
  } else {
    given.each([&](const Traced& t) { values.emplace_back(t); });
  }
  require(values.size() == inputs.size(), "Layer \"", model.name(), "\" expects ", inputs.size(),
          " named input(s) with keys [", names_of(inputs), "], but it received ", values.size(),
          " input tensors. Their structure is ", model.input().outline(), ", that of the data ",
          given.outline(), ".");
  return values;
}

void require_tensors(const char* argument, const Symbols& given) {
  require(!given.is_constant() || given.is_none(), "All `", argument,
          "` values must be KerasTensors. Received: ", argument, "=", given.outline());
  require(given.leaf_count() > 0, "`", argument, "` argument cannot be empty. Received: ", argument,
          "=", given.outline());
}

}  // namespace

Results ModelLayer::call(const Call& c) const {
  return call_layers(c, c).map<Value>([](const Traced& t) { return t.value; });
}

std::vector<Layer::Sublayer> ModelLayer::sublayers() const {
  std::vector<Sublayer> subs;
  for (const LayerPtr& layer : layers()) subs.push_back({"layers", layer, true});
  return subs;
}

FunctionalLayer::FunctionalLayer(Symbols inputs, Symbols outputs, LayerOptions options)
    : ModelLayer("Functional", std::move(options)),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)) {
  require_tensors("inputs", inputs_);
  require_tensors("outputs", outputs_);
  detach(inputs_, outputs_);
  topology_ = std::make_shared<const Topology>(map_graph(inputs_.flat(), outputs_));
  set_built();
}

std::shared_ptr<FunctionalLayer> FunctionalLayer::make(Symbols inputs, Symbols outputs,
                                                       LayerOptions options) {
  return std::make_shared<FunctionalLayer>(std::move(inputs), std::move(outputs),
                                           std::move(options));
}

const std::vector<LayerPtr>& FunctionalLayer::operations() const { return topology_->layers; }

void FunctionalLayer::set_dialect(Dialect dialect) {
  ModelLayer::set_dialect(dialect);
  if (dialect != Dialect::keras2) return;
  Module scratch;
  Tracer tracer(scratch, /*training=*/false, dialect);
  tracer.invoke(*this, {{inputs_.map<Traced>([&](const SymbolicTensor& t) {
                          return Traced{scratch.input(t.type(), t.name())};
                        })},
                        {}});
}

LayerPtr detail::find_layer(const std::vector<LayerPtr>& layers, const std::string& name) {
  std::string names;
  for (const LayerPtr& layer : layers) {
    if (layer->name() == name) return layer;
    names += (names.empty() ? "'" : ", '") + layer->name() + "'";
  }
  fail("No such layer: ", name, ". Existing layers are: [", names, "].");
}

LayerPtr detail::find_layer(const std::vector<LayerPtr>& layers, size_t index) {
  require(index < layers.size(), "Was asked to retrieve layer at index ", index,
          " but model only has ", layers.size(), " layers.");
  return layers[index];
}

std::vector<LayerPtr> FunctionalLayer::layers() const {
  std::vector<LayerPtr> layers;
  for (const LayerPtr& layer : operations())
    if (!is_operation(*layer)) layers.push_back(layer);
  return layers;
}

Tree<Traced> FunctionalLayer::call_layers(const Call& call, const Call&) const {
  const std::vector<SymbolicTensor> inputs = this->inputs();
  std::vector<Tree<Traced>> values = match(*this, call.argument(0));
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_none()) {
      require(optional_input(inputs[i]), "The input '", inputs[i].name(),
              "' is not optional, but None was passed. Please provide a valid tensor.");
      continue;
    }
    Traced traced = values[i].leaf();
    traced.value = fit(traced.value, i, inputs[i], name());
    values[i] = traced;
  }
  const auto results =
      walk<Traced>(*topology_, inputs, values, outputs_.flat(),
                   [&](const CallNode& node, Arguments<Traced> arguments) {
                     return call.invoke(*node.layer(), std::move(arguments)).flat();
                   });
  // As in Keras, a list of one output comes as the output.
  if (outputs_.is_list() && results.size() == 1) return results[0];
  size_t next = 0;
  return outputs_.map<Traced>([&](const SymbolicTensor&) { return results[next++]; });
}

LayerPtr FunctionalLayer::fresh_copy() const {
  const CopyScope scope;  // a layer used in several places stays one layer
  const Symbols inputs = detail::fresh_inputs(*this);
  const Symbols outputs = detail::rebuild(*this, inputs, detail::copy_of);
  auto copy = make(inputs, outputs, options());
  copy->set_dialect(dialect_);
  return copy;
}

Symbols detail::fresh_inputs(const FunctionalLayer& model) {
  std::unordered_map<const Layer*, SymbolicTensor> made;  // an input may be listed twice
  return model.input().map<SymbolicTensor>([&](const SymbolicTensor& t) {
    SymbolicTensor& copy = made[t.layer().get()];
    if (!copy.defined()) {
      const auto& layer = dynamic_cast<const InputLayer&>(*t.layer());
      copy = InputLayer::make(layer.batch_shape(), layer.dtype(), layer.name(), layer.flags())
                 ->output();
    }
    return copy;
  });
}

Symbols detail::rebuild(const FunctionalLayer& model, const Symbols& inputs,
                        const Substitute& substitute, const CallLayer& call) {
  std::vector<Symbols> values;
  inputs.each([&](const SymbolicTensor& t) { values.emplace_back(t); });
  const auto results =
      walk<SymbolicTensor>(model.topology(), model.inputs(), values, model.outputs(),
                           [&](const CallNode& node, Arguments<SymbolicTensor> arguments) {
                             const LayerPtr layer = substitute(node.layer());
                             return (call ? call(layer, std::move(arguments))
                                          : layer->call_symbolic(std::move(arguments)))
                                 .flat();
                           });
  size_t next = 0;
  return model.output().map<SymbolicTensor>([&](const SymbolicTensor&) { return results[next++]; });
}

}  // namespace keratin
