#include "keratin/model/model.h"

namespace keratin {

Model::Model(ModelOptions options) {
  auto layer = FunctionalLayer::make(std::move(options.inputs), std::move(options.outputs),
                                     LayerOptions{std::move(options.name)});
  layer->set_dialect(options.dialect);
  layer_ = std::move(layer);
}

Model::Model(LayerPtr layer) : layer_(std::move(layer)) {
  require(layer_ != nullptr, "Model: expected a layer, got nothing");
}

Dialect Model::dialect() const {
  const auto* model = dynamic_cast<const ModelLayer*>(layer_.get());
  return model != nullptr ? model->dialect() : Dialect::keras3;
}

const FunctionalLayer* Model::functional() const {
  if (const auto* sequential = dynamic_cast<const SequentialLayer*>(layer_.get()))
    return sequential->functional();
  return dynamic_cast<const FunctionalLayer*>(layer_.get());
}

const FunctionalLayer& Model::graph() const {
  const FunctionalLayer* graph = functional();
  require(graph != nullptr, "model '", name(),
          "' has no graph yet: it is subclassed, or a Sequential that has not been built");
  return *graph;
}

std::vector<LayerPtr> Model::layers() const {
  if (const auto* model = dynamic_cast<const ModelLayer*>(layer_.get())) return model->layers();
  std::vector<LayerPtr> layers;
  for (const Layer::Sublayer& sub : layer_->sublayers()) layers.push_back(sub.layer);
  return layers;
}

RunResult Model::run(const Tree<Tensor>& inputs, const PredictOptions& options) const {
  Arguments<MaskedTensor> arguments;
  arguments.positional.push_back(
      inputs.map<MaskedTensor>([](const Tensor& t) { return MaskedTensor{t}; }));
  const auto program = programs_->find(
      *layer_, arguments,
      {.training = options.training, .dialect = dialect(), .compile = options.compile});
  return program->run(arguments);
}

Tree<Tensor> Model::predict(const Tree<Tensor>& inputs, const PredictOptions& options) const {
  return run(inputs, options).outputs;
}

}  // namespace keratin
