// Calling a layer on symbolic tensors: the call is traced into a scratch program to learn what its
// outputs are, and remembered as a node.
#include <algorithm>
#include <unordered_map>

#include "keratin/base/text.h"
#include "keratin/graph/bind_arguments.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/tracer.h"
#include "keratin/graph/unique_name.h"
#include "keratin/ir/node.h"

namespace keratin {
namespace {

// The number of ops on the longest path from a parameter to a mask.
using Distances = std::unordered_map<const Node*, int64_t>;

// Walks back from a mask through the ops that made it. Masks are small programs; the walk is over
// the nodes in reverse order, so each is met once.
Distances distances_to(Value mask, const Block& block) {
  Distances found{{&mask.node(), 0}};
  const auto& nodes = block.nodes();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const auto here = found.find(it->get());
    if (here == found.end()) continue;
    const int64_t distance = here->second + 1;
    for (const Value input : (*it)->inputs()) {
      int64_t& best = found[&input.node()];
      best = std::max(best, distance);
    }
  }
  return found;
}

class SymbolicCall {
 public:
  SymbolicCall(Layer& layer, const Arguments<SymbolicTensor>& arguments)
      : layer_(layer), tracer_(module_, /*training=*/false) {
    tracer_.warns = true;
    traced_ = arguments.map<Traced>([&](const SymbolicTensor& t) { return parameter(t); });
  }

  Tree<OutputSpec> outputs() {
    const Tree<Traced> results = tracer_.invoke(layer_, traced_);
    return results.map<OutputSpec>([&](const Traced& t) { return spec_of(t); });
  }

 private:
  Traced parameter(const SymbolicTensor& tensor) {
    const auto found = known_.find(tensor);
    if (found != known_.end()) return found->second;
    Traced traced{module_.input(tensor.type(), tensor.name())};
    origins_.emplace(&traced.value.node(), std::vector<MaskSource>{{tensor.node_ptr(), 0}});
    if (const auto& mask = tensor.spec().mask) {
      traced.mask = module_.input(*mask, tensor.name() + "_mask");
      origins_.emplace(&traced.mask->node(), tensor.spec().mask_sources);
    }
    known_.emplace(tensor, traced);
    return traced;
  }

  OutputSpec spec_of(const Traced& traced) {
    OutputSpec spec{traced.value.type(), unique_name("keras_tensor")};
    if (!traced.mask) return spec;
    spec.mask = traced.mask->type();
    // Keras computes the masks of a nested model, and of inputs that are returned unchanged, only
    // when the model runs: its graph has no ops for them.
    if (!layer_.supports_masking() || dynamic_cast<const ModelLayer*>(&layer_) != nullptr)
      return spec;
    std::unordered_map<const CallNode*, size_t> at;
    for (const auto& [node, distance] : distances_to(*traced.mask, module_.block())) {
      const auto origin = origins_.find(node);
      if (origin == origins_.end()) continue;
      for (const MaskSource& source : origin->second) {
        const auto [entry, added] = at.emplace(source.node.get(), spec.mask_sources.size());
        if (added) spec.mask_sources.push_back({source.node, 0});
        int64_t& hops = spec.mask_sources[entry->second].hops;
        hops = std::max(hops, source.hops + distance);
      }
    }
    return spec;
  }

  Layer& layer_;
  Module module_;
  Tracer tracer_;
  Arguments<Traced> traced_;
  std::unordered_map<SymbolicTensor, Traced, SymbolicHash> known_;
  std::unordered_map<const Node*, std::vector<MaskSource>> origins_;
};

}  // namespace

Shapes Layer::compute_output_shape(const Shapes& inputs) const {
  if (!built()) {
    const LayerPtr copy = fresh_copy();
    copy->ensure_built(inputs);
    return copy->compute_output_shape(inputs);
  }
  Module module;
  Tracer tracer(module, /*training=*/false);
  Arguments<Traced> arguments;
  for (const Shape& shape : inputs)
    arguments.positional.emplace_back(Traced{module.input({compute_dtype(), shape})});
  if (inputs.size() > 1 && argument_names().size() == 1) {
    Tree<Traced>::List all(arguments.positional.begin(), arguments.positional.end());
    arguments.positional = {Tree<Traced>(std::move(all))};
  }
  Shapes shapes;
  for (const Traced& output : tracer.invoke(*this, std::move(arguments)).flat())
    shapes.push_back(output.value.shape());
  return shapes;
}

Symbols Layer::call_symbolic(Arguments<SymbolicTensor> arguments) {
  arguments = split_states(*this, std::move(arguments));
  arguments.each([&](const SymbolicTensor& t) {
    require(t.defined(), "layer '", name(), "': an input is undefined");
  });
  const Arguments<SymbolicTensor> bound = bind_arguments(*this, arguments);
  require(!bound.positional.empty(), "layer '", name(), "': expected an input, got none");
  if (!built()) {
    Shapes shapes, first;
    for (const auto& tree : bound.positional)
      tree.each([&](const SymbolicTensor& t) { shapes.push_back(t.shape()); });
    bound.positional[0].each([&](const SymbolicTensor& t) { first.push_back(t.shape()); });
    check_inputs(first);
    ensure_built(shapes);
  }
  const Tree<OutputSpec> outputs = SymbolicCall(*this, arguments).outputs();
  const NodePtr node = add_node(std::move(arguments), outputs.flat());
  size_t next = 0;
  return outputs.map<SymbolicTensor>(
      [&](const OutputSpec&) { return SymbolicTensor::output(node, next++); });
}

}  // namespace keratin
