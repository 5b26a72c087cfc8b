#pragma once

#include <any>
#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeindex>

#include "keratin/base/error.h"
#include "keratin/base/export.h"
#include "keratin/graph/activation.h"
#include "keratin/graph/constraint.h"
#include "keratin/graph/initializer.h"
#include "keratin/graph/regularizer.h"

// The user's own layers, models, activations, initializers, regularizers, constraints, losses,
// metrics, optimizers and schedules, by the names that files give them.
namespace keratin {

struct ConfigContext;

namespace detail {

// Makes an object of one kind from its config in a file.
template <class Kind>
using FromConfig = std::function<Kind(const Json& config, const ConfigContext& context)>;

// The same for a struct that computes a function: any kind of part with such a function.
template <class Function>
struct FunctionFromConfig {
  FromConfig<Function> make;
};

// What a C++ type is to files: a layer (or model), or its CustomKind.
template <class T>
struct KindOf {};
template <class T>
requires std::convertible_to<T, LayerPtr>
struct KindOf<T> {
  using Kind = LayerPtr;
};
template <class T>
requires requires { typename T::CustomKind; }
struct KindOf<T> {
  using Kind = typename T::CustomKind;
};

template <class T>
using CustomKind = typename KindOf<std::remove_cvref_t<T>>::Kind;
template <class T>
concept HasCustomKind = requires {
  typename CustomKind<T>;
};

template <class F>
concept MakesCustom = HasCustomKind<std::invoke_result_t<F, const Json&>>;
template <class F>
concept MakesCustomInContext =
    HasCustomKind<std::invoke_result_t<F, const Json&, const ConfigContext&>>;

// The user's class T: its name, and how it is made from a config. Each kind of class has its own.
template <class T>
struct CustomClass;

}  // namespace detail

// What a name in a file stands for. One of
// - a function that makes an object from its config in the file, such as `MyLayer::from_config` or
//   `[](const Json& config) -> Loss { … }`; it may take the ConfigContext as well;
// - a C++ function, for a Python function: `Value(Value)` is an activation, a regularizer, a
//   constraint, a schedule of the learning rate or the function of a Lambda, whichever the file
//   has; `Value(Value y_true, Value y_pred)` is a loss or a metric; `Tensor(const Shape&, DType,
//   uint64_t seed)` is an initializer;
// - an object, such as `Activation(…)`, `Loss(…)` or `Metric(…)`, for all configs;
// - `CustomObject::of<T>()`, for a class of the user's.
class KERATIN_API CustomObject {
 public:
  CustomObject() = default;
  template <detail::MakesCustom F>
  CustomObject(F from_config)  // NOLINT(google-explicit-constructor)
      : object_(detail::FromConfig<detail::CustomKind<std::invoke_result_t<F, const Json&>>>(
            [from_config](const Json& config, const ConfigContext&) {
              return from_config(config);
            })) {}
  template <detail::MakesCustomInContext F>
  CustomObject(F from_config)  // NOLINT(google-explicit-constructor)
      : object_(detail::FromConfig<
                detail::CustomKind<std::invoke_result_t<F, const Json&, const ConfigContext&>>>(
            from_config)) {}
  template <class T>
  requires requires { typename T::CustomKind; }
  CustomObject(T object)  // NOLINT(google-explicit-constructor)
      : object_(of_object<detail::CustomKind<T>>(std::move(object))) {}
  template <class F>
  requires(!detail::HasCustomKind<F> && std::is_invocable_r_v<Value, F, Value>)
      CustomObject(F function)  // NOLINT(google-explicit-constructor)
      : object_(std::function<Value(Value)>(function)) {}
  template <class F>
  requires(!detail::HasCustomKind<F> && std::is_invocable_r_v<Value, F, Value, Value>)
      CustomObject(F function)  // NOLINT(google-explicit-constructor)
      : object_(std::function<Value(Value, Value)>(function)) {}
  template <class F>
  requires(!detail::HasCustomKind<F> &&
           std::is_invocable_r_v<Tensor, F, const Shape&, DType, uint64_t>)
      CustomObject(F function)  // NOLINT(google-explicit-constructor)
      : object_(Initializer::Function(function)) {}

  // The class T of the user's: a layer, an optimizer or a metric with a config, or a struct that is
  // a loss, a schedule, an activation, an initializer, a regularizer or a constraint. Objects are
  // made from the fields that the config lists.
  template <class T>
  static CustomObject of() {
    if constexpr (FunctionConfig<T> || InitializerConfig<T>) {
      using Function = decltype(detail::configured(std::declval<T>()).function);
      CustomObject object;
      object.object_ = detail::FunctionFromConfig<Function>{&detail::CustomClass<T>::function};
      return object;
    } else {
      return CustomObject(&detail::CustomClass<T>::from_config);
    }
  }

  // The object for a name and config in a file; nothing if it is of another kind.
  template <class T>
  std::optional<T> make(const std::string& name, const Json& config,
                        const ConfigContext& context) const {
    if (const auto* from_config = std::any_cast<detail::FromConfig<T>>(&object_))
      return (*from_config)(config, context);
    if constexpr (requires { typename T::CustomFunction; }) {
      using Function = typename T::CustomFunction;
      if (const auto* function = std::any_cast<Function>(&object_)) return T(name, *function);
      if (const auto* from_config = std::any_cast<detail::FunctionFromConfig<Function>>(&object_))
        return T(name, from_config->make(config, context));
    }
    return std::nullopt;
  }
  // True if `make` gives a T.
  template <class T>
  bool makes() const {
    return std::any_cast<detail::FromConfig<T>>(&object_) != nullptr;
  }
  // The function of one value; null if it is something else.
  const std::function<Value(Value)>* function() const {
    return std::any_cast<std::function<Value(Value)>>(&object_);
  }

 private:
  template <class Kind>
  static detail::FromConfig<Kind> of_object(Kind object) {
    return [object](const Json&, const ConfigContext&) {
      if constexpr (requires { object.fresh_copy(); })
        return object.fresh_copy();
      else
        return object;
    };
  }

  std::any object_;
};

// By their names in files: "package>Name", or the name of the class or function alone.
using CustomObjects = std::map<std::string, CustomObject, std::less<>>;

// While it lives, what its thread reads finds these objects, before those of outer scopes and those
// that are registered.
class KERATIN_API CustomObjectScope {
 public:
  explicit CustomObjectScope(CustomObjects objects);
  ~CustomObjectScope();
  CustomObjectScope(const CustomObjectScope&) = delete;
  CustomObjectScope& operator=(const CustomObjectScope&) = delete;

 private:
  CustomObjects objects_;
};

// Binds "package>name" in every file that this process opens from now on. An error if the name is
// taken. Any thread may call it.
KERATIN_API void register_serializable(const std::string& package, const std::string& name,
                                       CustomObject object);

namespace detail {

KERATIN_API void register_class(const std::string& package, const std::string& name,
                                CustomObject object, std::type_index type);
// "package>name", under which a class is registered; "" if it is not.
KERATIN_API std::string registered_class(std::type_index type);
// The same for a function, by its name without the package: the name itself, or "Custom>name" if it
// would be taken for Keras's.
KERATIN_API std::string function_in_files(const std::string& name, bool is_name_of_keras);

// The envelope of an object of the user's class: under its registered name, or without a package,
// or as "Custom>Name" if it would be taken for Keras's.
KERATIN_API Json own_class_json(std::type_index type, const std::string& class_name, Json config,
                                bool is_name_of_keras = false);
// Warns that a class is saved under a name that is not registered.
KERATIN_API void warn_of_class(const std::string& saved);
struct ClassOrigin {
  bool is_keras = false;          // one of Keras's classes
  bool is_name_of_keras = false;  // or one of the user's with such a name
};
// The envelope of an object: under its registered name, if its class is registered, else as a class
// of Keras in `module`, or as one of the user's, with a warning.
KERATIN_API Json class_json(std::type_index type, const std::string& class_name, Json config,
                            std::string_view module, ClassOrigin origin);
// Warns that a function is saved by its name alone, unless it is registered.
KERATIN_API void warn_of_function(std::string_view kind, const std::string& name,
                                  bool is_name_of_keras = false);

// The name of the object in the JSON: a class, or a function, which may be in one of Keras's
// wrappers. Empty if there is none.
KERATIN_API std::string name_in_json(const Json& json);
KERATIN_API std::string without_package(const std::string& name);

// Whose class or function the JSON names.
enum class Owner {
  keras,  // the file has its module in Keras, and no registered name
  user,   // the file has a package, or a module that is not Keras's
  either  // the file has the name alone, as .h5 files do
};
KERATIN_API Owner owner_in(const Json& json);

// Calls `take` with the objects that are bound to the JSON's names, until it returns true.
KERATIN_API void find_custom(const Json& json,
                             const std::function<bool(const CustomObject&)>& take);
KERATIN_API Json config_in_json(const Json& json);  // {} if there is none
KERATIN_API Json envelope_of(const Json& json);     // of a name alone: that of a function

[[noreturn]] KERATIN_API void fail_custom(const Json& json, const UserError& error);

// The user's object that the JSON names, written to files as this JSON; nothing if there is none.
template <class T>
std::optional<T> custom_from_json(const Json& json, const ConfigContext& context) {
  std::optional<T> made;
  find_custom(json, [&](const CustomObject& object) {
    try {
      made = object.make<T>(without_package(name_in_json(json)), config_in_json(json), context);
    } catch (const UserError& error) {
      fail_custom(json, error);
    }
    return made.has_value();
  });
  if constexpr (requires { made->saved_as(json); })
    if (made) made = made->saved_as(envelope_of(json));
  return made;
}

// The same for a kind of object that Keras has, too. What a name alone stands for is the user's
// object if there is one, as in Keras. `known` is whether Keras has the name.
template <class T>
std::optional<T> custom_unless_keras(const Json& json, const ConfigContext& context, bool known) {
  if (known && owner_in(json) == Owner::keras) return std::nullopt;
  return custom_from_json<T>(json, context);
}

// Fails if the JSON names an object of the user's: one of Keras's must not take its place.
KERATIN_API void require_of_keras(std::string_view kind, const Json& json);

}  // namespace detail

// Registers the user's class T, as Keras's register_keras_serializable does: files with
// "package>name" open as T, and objects of T are saved under that name.
template <class T>
void register_serializable(const std::string& package = "Custom",
                           const std::string& name = std::string(detail::CustomClass<T>::name)) {
  detail::register_class(package, name, CustomObject::of<T>(), typeid(T));
}

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
