#include "keratin/model/clone.h"
#include "keratin/base/text.h"
#include "keratin/graph/sequential.h"
#include "keratin/train/callback.h"

#include <unordered_map>

namespace keratin {
namespace {

class Cloner {
 public:
  explicit Cloner(const CloneOptions& options) : options_(options) {}

  std::shared_ptr<ModelLayer> clone(const FunctionalLayer& model, const Symbols& given,
                                    const std::string& name) {
    const Symbols inputs = given.is_none() ? detail::fresh_inputs(model) : given;
    const Symbols outputs = detail::rebuild(
        model, inputs, [&](const LayerPtr& layer) { return clone_of(layer); },
        options_.call_function);
    auto copy = FunctionalLayer::make(inputs, outputs, renamed(model, name));
    copy->set_dialect(model.dialect());
    return copy;
  }

  std::shared_ptr<ModelLayer> clone(const SequentialLayer& model, const Symbols& given,
                                    const std::string& name) {
    std::vector<LayerPtr> layers;
    if (!given.is_none()) {
      const SymbolicTensor input = given;
      layers.push_back(InputLayer::make(input.shape(), input.dtype(), input.name()));
    } else if (const auto input = model.input_layer()) {
      layers.push_back(input->fresh_copy());
    }
    for (const LayerPtr& layer : model.layers()) layers.push_back(clone_of(layer));
    auto copy = std::make_shared<SequentialLayer>(std::move(layers), renamed(model, name));
    copy->set_dialect(model.dialect());
    return copy;
  }

 private:
  static LayerOptions renamed(const Layer& model, const std::string& name) {
    LayerOptions options = model.options();
    if (!name.empty()) options.name = name;
    return options;
  }

  // The clone of a layer, which is made once. copy_of remembers fresh copies itself.
  LayerPtr clone_of(const LayerPtr& layer) {
    if (!options_.recursive && !options_.clone_function) return detail::copy_of(layer);
    const auto found = clones_.find(layer.get());
    if (found != clones_.end()) return found->second;
    LayerPtr made = make_clone(layer);
    require(made != nullptr, "clone_model: clone_function returned nothing for layer '",
            layer->name(), "'");
    clones_.emplace(layer.get(), made);
    return made;
  }

  LayerPtr make_clone(const LayerPtr& layer) {
    if (options_.recursive) {
      if (const auto* nested = dynamic_cast<const FunctionalLayer*>(layer.get()))
        return clone(*nested, {}, "");
      if (const auto* nested = dynamic_cast<const SequentialLayer*>(layer.get()))
        return clone(*nested, {}, "");
    }
    return options_.clone_function ? options_.clone_function(layer) : detail::copy_of(layer);
  }

  const CloneOptions& options_;
  std::unordered_map<const Layer*, LayerPtr> clones_;
};

void check_input_tensors(const FunctionalLayer& model, const Symbols& given) {
  if (given.is_none()) return;
  require(given.same_structure(model.input()),
          "`input_tensors` must have the same structure as model.input\nReference structure: ",
          model.input().outline(), "\nReceived structure: ", given.outline());
  size_t defined = 0;
  given.each([&](const SymbolicTensor& t) { defined += t.defined() ? 1 : 0; });
  require(defined == model.input().leaf_count(),
          "All entries in `input_tensors` must be KerasTensors. Received invalid values: "
          "input_tensors=",
          given.outline());
}

void check_sequential(const CloneOptions& options, const Layer& model) {
  require(!options.call_function,
          "`call_function` argument is not supported with Sequential models.  In a Sequential "
          "model, layers aren't called at model-construction time (they're merely listed). Use "
          "`call_function` with Functional models only. Received model '",
          model.name(), "'");
  if (options.input_tensors.is_none()) return;
  require(!options.input_tensors.is_constant(),
          "Argument `input_tensors` must be a KerasTensor. Received invalid value: input_tensors=",
          options.input_tensors.outline());
  require(options.input_tensors.leaf_count() == 1,
          "Argument `input_tensors` must contain a single tensor. Received: ",
          options.input_tensors.outline());
}

void copy_weights(const Layer& from, Layer& to) {
  if (!to.built() && from.built()) to.ensure_built(from.built_with());
  const auto theirs = from.weights(), ours = to.weights();
  require(theirs.size() == ours.size(),
          "clone_model: copy_weights needs a clone with as many "
          "weights as the source; '",
          from.name(), "' has ", theirs.size(), ", the clone has ", ours.size());
  for (size_t i = 0; i < ours.size(); ++i)
    if (!(ours[i] == theirs[i])) ours[i].assign(theirs[i].value());
}

LayerPtr cloned(const Model& model, const CloneOptions& options) {
  const CopyScope scope;
  Cloner cloner(options);
  if (const auto* sequential = dynamic_cast<const SequentialLayer*>(model.layer().get())) {
    check_sequential(options, *sequential);
    return cloner.clone(*sequential, options.input_tensors, options.name);
  }
  if (const auto* functional = dynamic_cast<const FunctionalLayer*>(model.layer().get())) {
    check_input_tensors(*functional, options.input_tensors);
    return cloner.clone(*functional, options.input_tensors, options.name);
  }
  require(!options.clone_function && options.input_tensors.is_none(),
          "Arguments `clone_function` and `input_tensors` are only supported for Sequential models "
          "or Functional models. Received model of type '",
          model.layer()->class_name(), "'");
  require(!options.call_function,
          "Argument `call_function` is only supported for Functional models. Received model of "
          "type '",
          model.layer()->class_name(), "'");
  return model.layer()->fresh_copy();
}

}  // namespace

Model clone_model(const Model& model, const CloneOptions& options) {
  const LayerPtr copy = cloned(model, options);
  if (const auto& names = model.layer()->saved_class()) copy->set_saved_class(*names);
  if (options.copy_weights) copy_weights(*model.layer(), *copy);
  Model clone(copy);
  if (model.compiled()) clone.compile(model.trainer().options().fresh_copy());
  return clone;
}

}  // namespace keratin
