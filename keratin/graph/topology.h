#pragma once

#include <unordered_map>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/graph/layer.h"

namespace keratin {

// The calls between a model's inputs and outputs, in Keras's order. The order of the layers decides
// that of the weights, so files depend on it.
struct Topology {
  std::vector<NodePtr> nodes;                         // as they run: by decreasing depth
  std::vector<int64_t> depths;                        // of each: steps to the nearest output
  std::vector<LayerPtr> layers;                       // each once, by decreasing depth
  std::unordered_map<const CallNode*, size_t> slots;  // the index of a node's first output
  size_t slot_count = 0;

  bool contains(const CallNode& node) const { return slots.contains(&node); }
};

// Finds the calls and orders them. Errors: a cycle, a tensor that no input leads to, a layer name
// used twice.
KERATIN_API Topology map_graph(const std::vector<SymbolicTensor>& inputs, const Symbols& outputs);

// The one walk over a graph. `values` are what the inputs become (nothing, for an optional one);
// for each call in order, `call(node, arguments)` gives its outputs, flat. T is what tensors
// become: traced values when a model runs, other symbolic tensors when it is cloned.
template <class T, class CallOne>
std::vector<Tree<T>> walk(const Topology& topology, const std::vector<SymbolicTensor>& inputs,
                          const std::vector<Tree<T>>& values,
                          const std::vector<SymbolicTensor>& outputs, CallOne&& call) {
  std::vector<std::optional<Tree<T>>> slots(topology.slot_count);
  const auto slot_of = [&](const SymbolicTensor& t) -> std::optional<Tree<T>>& {
    return slots[topology.slots.at(&t.node()) + t.index()];
  };
  detail::ensure(inputs.size() == values.size(), "walk: ", inputs.size(), " inputs, ",
                 values.size(), " values");
  for (size_t i = 0; i < inputs.size(); ++i) slot_of(inputs[i]) = values[i];
  const auto value_of = [&](const SymbolicTensor& t) -> const Tree<T>& {
    const std::optional<Tree<T>>& value = slot_of(t);
    detail::ensure(value.has_value(), "walk: tensor ", t.name(), " has no value");
    return *value;
  };
  for (const NodePtr& node : topology.nodes) {
    if (node->is_input()) continue;
    const std::vector<T> results = call(*node, node->arguments().template map<T>(value_of));
    detail::ensure(results.size() == node->outputs().size(), "layer '", node->layer()->name(),
                   "' gave ", results.size(), " outputs, expected ", node->outputs().size());
    const size_t first = topology.slots.at(node.get());
    for (size_t i = 0; i < results.size(); ++i) slots[first + i] = Tree<T>(results[i]);
  }
  std::vector<Tree<T>> out;
  out.reserve(outputs.size());
  for (const SymbolicTensor& t : outputs) out.push_back(value_of(t));
  return out;
}

}  // namespace keratin
