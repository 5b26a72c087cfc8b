#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/base/shared_value.h"
#include "keratin/ir/node.h"

namespace keratin {

class Call;
class Layer;
using LayerPtr = std::shared_ptr<Layer>;

// A function of one value: Keras's by name ("relu", "swish"), a layer with its options
// (LeakyReLU({.negative_slope = 0.1})), or any callable.
class KERATIN_API Activation {
 public:
  using Function = std::function<Value(Value)>;

  Activation() : Activation("linear") {}
  Activation(const char* name) : Activation(std::string(name)) {}  // NOLINT
  Activation(const std::string& name);                             // NOLINT
  // A layer. The activation keeps the layer and its weights alive.
  template <class L>
  requires(std::convertible_to<const L&, LayerPtr> && !std::same_as<L, std::nullptr_t>)
      Activation(const L& layer)  // NOLINT(google-explicit-constructor)
      : Activation(static_cast<LayerPtr>(layer), 0) {}
  // A callable. Files know it by the name, to which LoadOptions::activations binds it again.
  Activation(std::string name, Function function);

  Value operator()(Value x) const;  // an error for a layer, which is called within another call
  Value operator()(const Call& call, Value x) const;
  const std::string& name() const { return named_->name; }  // a layer's is that of its class
  bool is(std::string_view function) const;  // whether it is Keras's function of that name
  const LayerPtr& layer() const { return named_->layer; }  // null for functions
  // With its layer replaced by another one.
  Activation with_layer(LayerPtr layer) const;
  // The same, written to files as this JSON instead of `to_json`'s.
  Activation saved_as(Json json) const;

  Json to_json() const;
  // A name, null (linear), or an envelope of a function.
  static Activation from_json(const Json& json);
  static bool knows(const std::string& name);  // whether Keras has a function of that name
  bool operator==(const Activation&) const = default;

 private:
  Activation(LayerPtr layer, int);

  // Shared by the configs of many layers.
  struct Named {
    std::string name;
    Function function = {};
    LayerPtr layer = nullptr;
    Json saved = {};
    bool custom = false;
    bool operator==(const Named& other) const {
      return name == other.name && layer == other.layer && custom == other.custom;
    }
  };
  using Known = std::unordered_map<std::string, detail::SharedValue<Named>>;
  static const Known& known();

  detail::SharedValue<Named> named_;
};

}  // namespace keratin
