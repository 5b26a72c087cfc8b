#include "keratin/graph/activation.h"

#include <unordered_map>

#include "keratin/base/text.h"
#include "keratin/graph/config.h"
#include "keratin/graph/custom_objects.h"
#include "keratin/graph/keras2_activation.h"
#include "keratin/graph/named.h"
#include "keratin/ops/activations.h"
#include "keratin/ops/ops.h"

namespace keratin {

struct Activation::Named {
  std::string name;
  Function function = {};
  LayerPtr layer = nullptr;
  Json saved = {};
  bool custom = false;
  std::type_index type = typeid(void);  // of a struct of the user's, with this config
  Json config = {};
  bool operator==(const Named& other) const {
    return name == other.name && layer == other.layer && custom == other.custom &&
           type == other.type && config == other.config;
  }
};

// Keras's, made once: large models are full of the same few.
struct Activation::Known : std::unordered_map<std::string, detail::SharedValue<Named>> {};

const std::string& Activation::name() const { return named_->name; }
const LayerPtr& Activation::layer() const { return named_->layer; }
bool Activation::operator==(const Activation& other) const { return named_ == other.named_; }

const Activation::Known& Activation::known() {
  static const auto all = [] {
    Known known;
    for (const std::string_view each : ops::activation_names())
      known[std::string(each)] = Named{std::string(each)};
    known.at("swish") = known.at("silu");
    known.at("hard_swish") = known.at("hard_silu");
    const std::string old(keras2_hard_sigmoid);
    known[old] = Named{old, [](Value x) { return ops::clip(x * 0.2 + 0.5, 0, 1); }};
    return known;
  }();
  return all;
}

bool Activation::knows(const std::string& name) { return known().contains(name); }

Activation::Activation(const std::string& name) {
  const auto found = known().find(name);
  require(found != known().end(), "Could not interpret activation function identifier: ", name);
  named_ = found->second;
}

Activation::Activation(std::string name, Function function)
    : named_(Named{.name = std::move(name), .function = std::move(function), .custom = true}) {
  require(!named_->name.empty(), "Activation: expected a name for the function, got an empty one");
  require(named_->function != nullptr, "Activation '", named_->name,
          "': expected a function, got an empty one");
}

Activation::Activation(detail::ConfiguredFunction<Function> own)
    : named_(Named{.name = std::string(own.class_name),
                   .function = std::move(own.function),
                   .custom = true,
                   .type = own.type,
                   .config = std::move(own.config)}) {}

Activation::Activation(LayerPtr layer, int) {
  require(layer != nullptr, "Activation: expected a layer, got nothing");
  Named named{.name = std::string(layer->class_name())};
  named.layer = std::move(layer);
  named_ = std::move(named);
}

Activation Activation::with_layer(LayerPtr layer) const { return {std::move(layer), 0}; }

Activation Activation::saved_as(Json json) const {
  Named named = *named_;
  named.saved = std::move(json);
  Activation same;
  same.named_ = std::move(named);
  return same;
}

bool Activation::is(std::string_view function) const {
  return named_->name == function && !named_->custom && !named_->layer;
}

Value Activation::operator()(Value x) const {
  require(!layer(), "activation '", name(), "' is a layer: it runs within the call of another one");
  if (named_->function) return named_->function(x);
  return name() == "linear" ? x : ops::activation(name(), x);
}

// In Keras, a layer that is an activation is built by its first call.
Value Activation::operator()(const Call& call, Value x) const {
  if (!layer()) return (*this)(x);
  layer()->ensure_built({x.shape()});
  return call.invoke(*layer(), Traced{x}).value;
}

Json Activation::to_json() const {
  if (layer()) return serialize_layer(*layer());
  if (!named_->saved.is_null()) return named_->saved;
  if (named_->type != typeid(void))
    return detail::own_class_json(named_->type, name(), named_->config,
                                  knows(name()) || knows(snake_case(name())));
  return named_->custom ? function_json(name(), knows(name())) : Json(name());
}

Activation Activation::from_json(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_string()) return {json.as_string()};
  if (is_keras2_hard_sigmoid(json)) return {std::string(keras2_hard_sigmoid)};
  const Json& config = json.at("config");
  if (config.is_string()) return {config.as_string()};
  return {snake_case(json.at("class_name").as_string())};
}

}  // namespace keratin
