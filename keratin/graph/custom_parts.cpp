#include "keratin/graph/custom_parts.h"

#include "keratin/base/text.h"
#include "keratin/graph/config.h"
#include "keratin/graph/keras2_activation.h"
#include "keratin/graph/named.h"

namespace keratin::config {
namespace {

std::string text_under(const Json& json, std::string_view key) {
  const Json* found = json.find(key);
  return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

// The name of a function in its envelope: {"class_name": "function", "config": name}.
std::string function_in(const Json& json) {
  return json.is_object() ? text_under(json, "config") : std::string();
}

// The name of an object in a file: "my_function", "package>name", or a class in an envelope.
std::string name_in(const Json& json) {
  if (json.is_string()) return json.as_string();
  const std::string function = function_in(json);
  return function.empty() ? json.at("class_name").as_string() : function;
}

// The object that is bound to one of its names in a file.
template <class T>
bool read_custom(const Json& json, const CustomPartsOf<T>& custom, T& out) {
  if (custom.empty() || json.is_null()) return false;
  const std::string name = name_in(json);
  const std::string registered = json.is_object() ? text_under(json, "registered_name") : "";
  for (const std::string& known : {registered, name, name.substr(name.rfind('>') + 1)}) {
    const auto found = custom.find(known);
    if (found == custom.end()) continue;
    const Json* settings = json.is_object() ? json.find("config") : nullptr;
    const bool has_settings = settings != nullptr && settings->is_object();
    out = found->second(name, has_settings ? *settings : Json::object())
              .saved_as(json.is_object() ? json : function_json(name));
    return true;
  }
  return false;
}

[[noreturn]] void fail_unknown(std::string_view kind, const std::string& name,
                               std::string_view option, std::string_view function) {
  fail("Could not interpret ", kind, " identifier: ", name,
       ". If it is yours, bind C++ to its name: load_model(path, {.", option, " = {{\"", name,
       "\", ", function, "}}})");
}

// A function of Keras in an envelope is known by its name alone.
Json without_envelope(const Json& json) {
  const std::string function = function_in(json);
  return function.empty() ? json : Json(function);
}

}  // namespace

void read(const Json& json, Activation& out, const ConfigContext& context) {
  if (context.parts != nullptr && read_custom(json, context.parts->activations, out)) return;
  if (json.is_null() || is_keras2_hard_sigmoid(json)) {
    out = Activation::from_json(json);
    return;
  }
  // An activation may be any layer. Keras 2 names activation layers without an envelope.
  const std::string name = name_in(json);
  const bool function = !json.is_object() || !function_in(json).empty();
  const Json envelope =
      function ? Json(Json::Object{{"class_name", name}, {"config", Json::object()}}) : json;
  if (function && Activation::knows(name))
    out = Activation(name);
  else if (context.names_layer && context.names_layer(envelope))
    out = context.make_layer(envelope);
  else if (!function && Activation::knows(snake_case(name)))
    out = Activation(snake_case(name));
  else
    fail_unknown("activation function", name, "activations", "[](Value x) { return x; }");
}

void read(const Json& json, Initializer& out, const ConfigContext& context) {
  if (context.parts != nullptr && read_custom(json, context.parts->initializers, out)) return;
  if (!json.is_null() && !Initializer::knows(name_in(json)))
    fail_unknown("initializer", name_in(json), "initializers",
                 "[](const Shape& shape, DType dtype, uint64_t seed) { return "
                 "Tensor::zeros(dtype, shape); }");
  out = Initializer::from_json(without_envelope(json));
}

void read(const Json& json, Regularizer& out, const ConfigContext& context) {
  if (context.parts != nullptr && read_custom(json, context.parts->regularizers, out)) return;
  if (!json.is_null() && !Regularizer::knows(name_in(json)))
    fail_unknown("regularizer", name_in(json), "regularizers",
                 "[](Value weight) { return ops::sum(weight); }");
  out = Regularizer::from_json(without_envelope(json));
}

void read(const Json& json, Constraint& out, const ConfigContext& context) {
  if (context.parts != nullptr && read_custom(json, context.parts->constraints, out)) return;
  if (!json.is_null() && !Constraint::knows(name_in(json)))
    fail_unknown("constraint", name_in(json), "constraints", "[](Value weight) { return weight; }");
  out = Constraint::from_json(without_envelope(json));
}

}  // namespace keratin::config
