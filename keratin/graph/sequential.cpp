#include "keratin/graph/sequential.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/build_scope.h"

namespace keratin {

SequentialLayer::SequentialLayer(std::vector<LayerPtr> layers, LayerOptions options)
    : ModelLayer("Sequential", std::move(options)) {
  for (LayerPtr& layer : layers) add(std::move(layer));
}

void SequentialLayer::add(LayerPtr layer) {
  require(layer != nullptr, "Sequential '", name(), "': no layer was given to add");
  for (const LayerPtr& other : layers_)
    require(other->name() != layer->name(),
            "All layers added to a Sequential model should have unique names. Name '",
            layer->name(),
            "' is already the name of a layer in this model. Update the `name` "
            "argument to pass a unique name.");
  if (auto input = std::dynamic_pointer_cast<InputLayer>(layer)) {
    require(input_ == nullptr || !layers_.empty(), "Sequential model '", name(),
            "' has already been configured to use input shape ",
            input_ ? keras_shape(input_->batch_shape()) : "",
            ". You cannot add a different Input layer to it.");
    require(layers_.empty(), "Sequential model '", name(),
            "': an Input layer must come first, before any other layer");
    input_ = std::move(input);
    return;
  }
  layers_.push_back(std::move(layer));
  functional_ = nullptr;
  mark_changed();
  if (input_ == nullptr) return;
  const BuildScope scope(*this);
  start();
}

void SequentialLayer::pop() {
  require(!layers_.empty(), "Sequential '", name(), "': there is no layer to remove");
  layers_.pop_back();
  if (outputs_.size() > layers_.size()) outputs_.pop_back();
  functional_ = nullptr;
  mark_changed();
}

void SequentialLayer::build(const Shapes& inputs) {
  require(!layers_.empty(), "Sequential model ", name(),
          " cannot be built because it has no layers. Call `model.add(layer)`.");
  if (input_ != nullptr) return;
  require(inputs.size() == 1, "Sequential '", name(), "': expected one input tensor, got ",
          inputs.size());
  input_ = InputLayer::make(inputs[0], layers_[0]->compute_dtype(), "");
  start();
}

void SequentialLayer::start() {
  if (!head_.defined()) head_ = input_->output();
  while (outputs_.size() < layers_.size())
    outputs_.push_back(
        (*layers_[outputs_.size()])(outputs_.empty() ? Symbols(head_) : outputs_.back()));
  set_built();
}

const FunctionalLayer* SequentialLayer::functional() const {
  const std::lock_guard guard(lock_);
  if (functional_ == nullptr && head_.defined() && !outputs_.empty()) {
    functional_ = FunctionalLayer::make(head_, outputs_.back(),
                                        LayerOptions{name(), trainable(), dtype_policy()});
    functional_->set_dialect(dialect_);
  }
  return functional_.get();
}

std::vector<LayerPtr> SequentialLayer::layers() const { return layers_; }

Tree<Traced> SequentialLayer::call_layers(const Call& call, const Call& for_masks) const {
  const FunctionalLayer* graph = functional();
  require(
      graph != nullptr, "Sequential model '", name(),
      "' was called before it was built; give it an Input or call it on symbolic tensors first");
  return graph->call_layers(call, for_masks);
}

LayerPtr SequentialLayer::fresh_copy() const {
  const CopyScope scope;
  std::vector<LayerPtr> copies;
  if (input_ != nullptr) copies.push_back(input_->fresh_copy());
  for (const LayerPtr& layer : layers_) copies.push_back(detail::copy_of(layer));
  auto copy = std::make_shared<SequentialLayer>(std::move(copies), options());
  copy->set_dialect(dialect_);
  return copy;
}

Json SequentialLayer::get_config() const {
  Json config = Json::Object{
      {"name", name()}, {"trainable", trainable()}, {"dtype", dtype_policy().to_json()}};
  Json layers = Json::array();
  if (input_ != nullptr) layers.push_back(serialize_layer(*input_));
  for (const LayerPtr& layer : layers_) layers.push_back(serialize_layer(*layer));
  config["layers"] = layers;
  if (functional() != nullptr)
    config["build_input_shape"] = detail::shape_json(input_->batch_shape());
  return config;
}

namespace {

// The config of the first layer, inside nested models.
const Json* innermost_config(const Json& first) {
  const Json* config = first.find("config");
  while (config != nullptr) {
    const Json* layers = config->is_array()    ? config
                         : config->is_object() ? config->find("layers")
                                               : nullptr;
    if (layers == nullptr || !layers->is_array() || layers->size() == 0) return config;
    const Json* inputs = config->is_object() ? config->find("input_layers") : nullptr;
    if (inputs != nullptr && inputs->size() > 1) return nullptr;
    config = (*layers)[0].is_object() ? (*layers)[0].find("config") : nullptr;
  }
  return nullptr;
}

// Keras 2 writes the shape of the input into the config of the first layer.
LayerPtr old_input(const Json& first) {
  if (first.at("class_name").as_string() == "InputLayer") return nullptr;
  const Json* config = innermost_config(first);
  const Json* shape =
      config == nullptr || !config->is_object() ? nullptr : config->find("batch_input_shape");
  if (shape == nullptr || shape->is_null()) return nullptr;
  const Json* dtype = config->find("dtype");
  const DType type =
      dtype == nullptr || dtype->is_null() ? DType::f32 : DTypePolicy::from_json(*dtype).compute();
  return InputLayer::make(detail::shape_from_json(*shape), type, "");
}

}  // namespace

LayerPtr SequentialLayer::from_config(const Json& config, const ConfigContext& context) {
  const bool bare = config.is_array();  // the oldest files: a list of layers
  const Json::Array& listed = bare ? config.as_array() : config.at("layers").as_array();
  std::vector<LayerPtr> layers;
  if (!listed.empty())
    if (LayerPtr input = old_input(listed[0])) layers.push_back(std::move(input));
  for (const Json& layer : listed) layers.push_back(context.make_layer(layer));
  auto model = std::make_shared<SequentialLayer>(
      std::move(layers), bare ? LayerOptions{} : detail::read_options(config, context));
  model->set_dialect(context.dialect);
  const Json* shape = bare ? nullptr : config.find("build_input_shape");
  if (shape != nullptr && shape->is_array() && model->functional() == nullptr &&
      !model->layers().empty() && (shape->size() == 0 || !(*shape)[0].is_array()))
    model->ensure_built({detail::shape_from_json(*shape)});
  return model;
}

}  // namespace keratin
