#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>

#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/base/shared_value.h"
#include "keratin/graph/function_config.h"
#include "keratin/ir/value.h"

namespace keratin {

class Call;
class Layer;
using LayerPtr = std::shared_ptr<Layer>;

// A function of one value: Keras's by name ("relu", "swish"), a layer with its options
// (LeakyReLU({.negative_slope = 0.1})), or any callable.
class KERATIN_API Activation {
 public:
  using Function = std::function<Value(Value)>;
  using CustomKind = Activation;
  using CustomFunction = Function;

  Activation() : Activation("linear") {}
  Activation(const char* name) : Activation(std::string(name)) {}  // NOLINT
  Activation(const std::string& name);                             // NOLINT
  // A layer. The activation keeps the layer and its weights alive.
  template <class L>
  requires(std::convertible_to<const L&, LayerPtr> && !std::same_as<L, std::nullptr_t>)
      Activation(const L& layer)  // NOLINT(google-explicit-constructor)
      : Activation(static_cast<LayerPtr>(layer), 0) {}
  // A callable. Files know it by the name, to which LoadOptions binds it again.
  Activation(std::string name, Function function);
  // A struct with a config of its own, which files have.
  template <FunctionConfig C>
  Activation(C config)  // NOLINT(google-explicit-constructor)
      : Activation(detail::configured(std::move(config))) {}

  Value operator()(Value x) const;  // an error for a layer, which is called within another call
  Value operator()(const Call& call, Value x) const;
  const std::string& name() const;           // a layer's is that of its class
  bool is(std::string_view function) const;  // whether it is Keras's function of that name
  const LayerPtr& layer() const;             // null for functions
  // With its layer replaced by another one.
  Activation with_layer(LayerPtr layer) const;
  // The same, written to files as this JSON instead of `to_json`'s.
  Activation saved_as(Json json) const;

  Json to_json() const;
  // A name, null (linear), or an envelope of a function.
  static Activation from_json(const Json& json);
  static bool knows(const std::string& name);  // whether Keras has a function of that name
  bool operator==(const Activation& other) const;

 private:
  explicit Activation(detail::ConfiguredFunction<Function> own);
  Activation(LayerPtr layer, int);

  struct Named;  // shared by the configs of many layers
  struct Known;
  static const Known& known();

  detail::SharedValue<Named> named_;
};

}  // namespace keratin
