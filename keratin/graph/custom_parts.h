#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <string>

#include "keratin/base/export.h"
#include "keratin/graph/activation.h"
#include "keratin/graph/constraint.h"
#include "keratin/graph/initializer.h"
#include "keratin/graph/regularizer.h"

namespace keratin {

struct ConfigContext;

// An activation, initializer, regularizer or constraint of the user's own, to which a name in a
// file is bound: an object, a C++ function, or a function that makes the object from its config in
// the file.
template <class T>
class CustomPart {
 public:
  CustomPart(T part)  // NOLINT(google-explicit-constructor)
      : make_([part](const std::string&, const Json&) { return part; }) {}
  template <std::convertible_to<typename T::Function> F>
  CustomPart(F function)  // NOLINT(google-explicit-constructor)
      : make_([function](const std::string& name, const Json&) { return T(name, function); }) {}
  template <class F>
  requires(std::is_invocable_r_v<T, F, const Json&> &&
           !std::convertible_to<F, typename T::Function> && !std::convertible_to<F, T>)
      CustomPart(F from_config)  // NOLINT(google-explicit-constructor)
      : make_([from_config](const std::string&, const Json& config) {
          return from_config(config);
        }) {}

  T operator()(const std::string& name, const Json& config) const { return make_(name, config); }

 private:
  std::function<T(const std::string& name, const Json& config)> make_;
};

template <class T>
using CustomPartsOf = std::map<std::string, CustomPart<T>, std::less<>>;

// By their names in files: "package>name", or the name of the function or class. These come before
// Keras's own.
struct CustomParts {
  CustomPartsOf<Activation> activations = {};
  CustomPartsOf<Initializer> initializers = {};
  CustomPartsOf<Regularizer> regularizers = {};
  CustomPartsOf<Constraint> constraints = {};
};

namespace config {

// Made from a config. If the name is unknown, the error says how to bind it.
KERATIN_API void read(const Json& json, Activation& out, const ConfigContext& context);
KERATIN_API void read(const Json& json, Initializer& out, const ConfigContext& context);
KERATIN_API void read(const Json& json, Regularizer& out, const ConfigContext& context);
KERATIN_API void read(const Json& json, Constraint& out, const ConfigContext& context);

template <class T>
concept Part = std::same_as<T, Activation> || std::same_as<T, Initializer> ||
    std::same_as<T, Regularizer> || std::same_as<T, Constraint>;

}  // namespace config
}  // namespace keratin
