#include <algorithm>
#include <unordered_map>

#include "keratin/base/text.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/topology.h"
#include "tests/mutants/old_cloner_testing.h"

namespace keratin {
namespace {

class OldCloner {
 public:
  OldCloner(const FunctionalLayer& model, const Mistakes& mistakes)
      : model_(model), mistakes_(mistakes) {}

  Model clone() {
    Symbols::List inputs;
    for (const SymbolicTensor& t : model_.inputs()) inputs.push_back(new_input(t));
    const Topology& topology = model_.topology();
    std::vector<NodePtr> nodes = topology.nodes;
    if (mistakes_.shallow_first) std::reverse(nodes.begin(), nodes.end());
    if (mistakes_.iterates_over_depths_not_nodes)
      fail("'int' object has no attribute 'outbound_layer'");
    for (const NodePtr& node : nodes) visit(*node);
    Symbols::List outputs;
    for (const SymbolicTensor& t : model_.outputs()) {
      require(tensors_.contains(t), "Could not compute output ", t);
      outputs.push_back(tensors_.at(t).tensor);
    }
    require(!mistakes_.always_fails_at_the_end, "Could not compute output ", model_.outputs()[0]);
    const auto layer = FunctionalLayer::make(inputs, outputs, LayerOptions{model_.name()});
    layer->set_dialect(Dialect::keras2);
    return Model(layer);
  }

 private:
  struct Known {
    SymbolicTensor tensor;
    bool masked = false;  // whether the cloner believes that there is a mask
  };

  SymbolicTensor new_input(const SymbolicTensor& t) {
    Dims dims = t.shape().dims();
    if (mistakes_.inputs_lose_the_batch) dims.erase(dims.begin());
    const auto layer = InputLayer::make(dims, t.dtype(), t.layer()->name());
    if (!mistakes_.input_layers_become_tensors) layers_[t.layer().get()] = layer;
    tensors_[t] = {layer->output()};
    return layer->output();
  }

  void visit(const CallNode& node) {
    if (node.is_input()) {
      require(!mistakes_.input_layers_become_tensors, "'Tensor' object is not callable");
      return;
    }
    LayerPtr& layer = layers_[node.layer().get()];
    if (layer == nullptr)
      layer = mistakes_.calls_the_original_layer ? node.layer() : node.layer()->fresh_copy();
    for (const SymbolicTensor& t : node.inputs()) {
      if (tensors_.contains(t)) continue;
      require(!mistakes_.missing_inputs_are_errors, "KeyError: ", t.name());
      return;
    }
    Arguments<SymbolicTensor> arguments = node.arguments().map<SymbolicTensor>(
        [&](const SymbolicTensor& t) { return tensors_.at(t).tensor; });
    // The mask that the cloner passes replaces the tensors' own masks.
    const bool masked = std::any_of(node.inputs().begin(), node.inputs().end(),
                                    [&](const auto& t) { return tensors_.at(t).masked; });
    const bool drops = mistakes_.masks == Mistakes::Masks::none || !masked;
    if (layer->takes_mask() && drops && !arguments.named.contains("mask"))
      arguments.named.emplace("mask", Symbols());
    if (mistakes_.wraps_single_inputs_in_lists && arguments.positional[0].is_leaf())
      fail("layer '", layer->name(), "' was given a list of one tensor");
    const auto outputs = layer->call_symbolic(std::move(arguments)).flat();
    remember(node, *layer, outputs);
  }

  void remember(const CallNode& node, const Layer& layer,
                const std::vector<SymbolicTensor>& outputs) {
    std::vector<bool> masks;
    const bool nested = dynamic_cast<const ModelLayer*>(&layer) != nullptr;
    // Keras 2's supports_masking: false for models and for layers that make masks without it.
    const bool supports = layer.supports_masking() && !nested && layer.class_name() != "MaskMaker";
    switch (mistakes_.masks) {
      case Mistakes::Masks::truncate:
        if (outputs.size() > 1 && !outputs[0].has_mask() && !nested)
          masks.assign(1, false);  // to_list(None) has one element
        else
          for (const auto& t : outputs) masks.push_back(t.has_mask());
        break;
      case Mistakes::Masks::only_if_supported:
        for (const auto& t : outputs) masks.push_back(supports && t.has_mask());
        break;
      case Mistakes::Masks::none:
        masks.assign(outputs.size(), false);
        break;
    }
    // zip stops at the shortest list.
    for (size_t i = 0; i < std::min(outputs.size(), masks.size()); ++i) {
      const auto self = std::find_if(model_.topology().nodes.begin(), model_.topology().nodes.end(),
                                     [&](const NodePtr& n) { return n.get() == &node; });
      tensors_[SymbolicTensor::output(*self, i)] = {outputs[i], masks[i]};
    }
  }

  const FunctionalLayer& model_;
  const Mistakes& mistakes_;
  std::unordered_map<const Layer*, LayerPtr> layers_;
  std::unordered_map<SymbolicTensor, Known, SymbolicHash> tensors_;
};

}  // namespace

Model clone_with_mistakes(const Model& model, const Mistakes& mistakes) {
  return OldCloner(model.graph(), mistakes).clone();
}

}  // namespace keratin
