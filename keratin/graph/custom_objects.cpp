#include "keratin/graph/custom_objects.h"

#include <mutex>
#include <vector>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/config.h"
#include "keratin/graph/keras2_activation.h"
#include "keratin/graph/named.h"

namespace keratin {
namespace {

thread_local std::vector<const CustomObjects*> custom_scopes;  // outermost first

// What is registered, for the whole process.
struct Registered {
  std::mutex lock;
  CustomObjects objects;
  std::map<std::type_index, std::string> classes;
  // Functions by the name without a package; the name itself if several packages have one.
  std::map<std::string, std::string, std::less<>> functions;
};

Registered& registered() {
  static Registered all;
  return all;
}

bool is_registered(const std::string& name) {
  Registered& all = registered();
  const std::lock_guard guard(all.lock);
  return all.objects.contains(name);
}

std::string text_at(const Json& json, std::string_view key) {
  const Json* found = json.is_object() ? json.find(key) : nullptr;
  return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

bool is_null_at(const Json& json, std::string_view key) {
  const Json* found = json.is_object() ? json.find(key) : nullptr;
  return found != nullptr && found->is_null();
}

// Keras's classes around a function of a loss or metric.
bool is_wrapper(std::string_view name) {
  return name == "MeanMetricWrapper" || name == "LossFunctionWrapper";
}

// The function in such a class; null if there is none.
const Json* wrapped_function(const Json& json) {
  if (!is_wrapper(text_at(json, "class_name"))) return nullptr;
  const Json* config = json.find("config");
  const Json* function = config != nullptr && config->is_object() ? config->find("fn") : nullptr;
  return function != nullptr && !function->is_null() ? function : nullptr;
}

// The names of an object in a file, most exact first. In .h5 files the class name is the registered
// name.
std::vector<std::string> names_in(const Json& json) {
  const std::string name = detail::name_in_json(json);
  if (name.empty()) return {};
  return {text_at(json, "registered_name"), name, detail::without_package(name)};
}

void add(const std::string& package, const std::string& name, CustomObject object,
         const std::type_index* type) {
  require(!package.empty() && !name.empty() && name.find('>') == name.npos,
          "register_serializable: expected a package and a name without '>', got '", package,
          "' and '", name, "'");
  const std::string whole = package + '>' + name;
  Registered& all = registered();
  const std::lock_guard guard(all.lock);
  require(!all.objects.contains(whole), "register_serializable: '", whole,
          "' is already registered");
  all.objects.emplace(whole, std::move(object));
  if (type != nullptr)
    all.classes[*type] = whole;
  else if (const auto [known, added] = all.functions.emplace(name, whole); !added)
    known->second = name;
}

}  // namespace

CustomObjectScope::CustomObjectScope(CustomObjects objects) : objects_(std::move(objects)) {
  custom_scopes.push_back(&objects_);
}

CustomObjectScope::~CustomObjectScope() { custom_scopes.pop_back(); }

void register_serializable(const std::string& package, const std::string& name,
                           CustomObject object) {
  add(package, name, std::move(object), nullptr);
}

namespace detail {

void register_class(const std::string& package, const std::string& name, CustomObject object,
                    std::type_index type) {
  add(package, name, std::move(object), &type);
}

std::string registered_class(std::type_index type) {
  Registered& all = registered();
  const std::lock_guard guard(all.lock);
  const auto found = all.classes.find(type);
  return found == all.classes.end() ? std::string() : found->second;
}

std::string without_package(const std::string& name) { return name.substr(name.rfind('>') + 1); }

std::string function_in_files(const std::string& name, bool is_name_of_keras) {
  Registered& all = registered();
  const std::lock_guard guard(all.lock);
  const auto found = all.functions.find(name);
  const std::string& whole = found == all.functions.end() ? name : found->second;
  return is_name_of_keras && whole.find('>') == whole.npos ? "Custom>" + whole : whole;
}

Json own_class_json(std::type_index type, const std::string& class_name, Json config,
                    bool is_name_of_keras) {
  std::string name = registered_class(type);
  if (name.empty()) name = is_name_of_keras ? "Custom>" + class_name : class_name;
  const size_t end = name.rfind('>');
  return Json::Object{{"module", end == name.npos ? Json() : Json(name.substr(0, end))},
                      {"class_name", class_name},
                      {"config", std::move(config)},
                      {"registered_name", name}};
}

void warn_of_class(const std::string& saved) {
  if (is_registered(saved)) return;
  const std::string name = without_package(saved);
  warn(text("save: the class ", name, " is neither Keras's nor registered, so files have ",
            saved == name ? "its name" : "the name '" + saved + "'",
            " alone. register_serializable<", name,
            ">(\"package\") gives it a package; Python opens the file with custom_objects={\"",
            saved, "\": …}"));
}

Json class_json(std::type_index type, const std::string& class_name, Json config,
                std::string_view module, ClassOrigin origin) {
  const bool registered = !registered_class(type).empty();
  if (!registered && origin.is_keras) return Named{class_name, std::move(config)}.to_json(module);
  Json json = own_class_json(type, class_name, std::move(config), origin.is_name_of_keras);
  if (!registered) warn_of_class(json.at("registered_name").as_string());
  return json;
}

void warn_of_function(std::string_view kind, const std::string& name, bool is_name_of_keras) {
  const std::string saved = function_in_files(name, is_name_of_keras);
  if (saved.find('>') != saved.npos && !is_name_of_keras) return;
  if (is_registered(saved)) return;
  warn(text("save: the ", kind, " '", name, "' is a C++ function, so the file has ",
            saved == name ? "its name" : "the name '" + saved + "'",
            " alone. Keratin opens the file with load_model(path, {.custom_objects = {{\"", name,
            "\", …}}}), Python with custom_objects={\"", saved, "\": …}"));
}

std::string name_in_json(const Json& json) {
  if (json.is_string()) return json.as_string();
  if (const Json* function = wrapped_function(json)) return name_in_json(*function);
  const std::string name = text_at(json, "class_name");
  const std::string function = text_at(json, "config");
  return function.empty() ? name : function;
}

Owner owner_in(const Json& json) {
  if (const Json* function = wrapped_function(json)) return owner_in(*function);
  const std::string module = text_at(json, "module"), registered = text_at(json, "registered_name");
  const std::string package = module.substr(0, module.find('.'));
  const bool is_function = !text_at(json, "config").empty();
  const bool has_package =
      registered.find('>') != registered.npos || name_in_json(json).find('>') != std::string::npos;
  // Keras writes no module for a class of the program itself.
  const bool of_program = is_null_at(json, "module") && !registered.empty();
  const bool in_keras = package.empty() || package == "keras" || package == "tf_keras" ||
                        package == "tensorflow" || (package == "builtins" && is_function);
  if (has_package || of_program || !in_keras) return Owner::user;
  return is_null_at(json, "registered_name") && !is_function ? Owner::keras : Owner::either;
}

void require_of_keras(std::string_view kind, const Json& json) {
  if (owner_in(json) != Owner::user) return;
  const std::string module = text_at(json, "module"), registered = text_at(json, "registered_name");
  fail("Could not interpret ", kind, " identifier: ", name_in_json(json), ", which is not Keras's",
       module.empty() ? "" : " but of module '" + module + "'",
       registered.empty() ? "" : ", registered as '" + registered + "'");
}

void find_custom(const Json& json, const std::function<bool(const CustomObject&)>& take) {
  const std::vector<std::string> names = names_in(json);
  // A scope may be opened by what makes an object, so the list may grow meanwhile.
  for (size_t i = custom_scopes.size(); i-- > 0;)
    for (const std::string& name : names)
      if (const auto found = custom_scopes[i]->find(name);
          found != custom_scopes[i]->end() && take(found->second))
        return;
  for (const std::string& name : names) {
    CustomObject object;
    {
      Registered& all = registered();
      const std::lock_guard guard(all.lock);
      const auto found = all.objects.find(name);
      if (found == all.objects.end()) continue;
      object = found->second;
    }
    if (take(object)) return;
  }
}

void fail_custom(const Json& json, const UserError& error) {
  if (owner_in(json) != Owner::user) throw UserError(error);  // it may stand for a class of Keras
  fail("custom object '", name_in_json(json), "': ", error.what());
}

Json config_in_json(const Json& json) {
  const Json* config = json.is_object() ? json.find("config") : nullptr;
  return config != nullptr && config->is_object() ? *config : Json::object();
}

Json envelope_of(const Json& json) {
  const std::string name = text_at(json, "class_name");
  if (!json.is_object() || is_wrapper(name)) return function_json(name_in_json(json));
  const size_t end = name.rfind('>');
  if (end == name.npos) return json;
  return Json::Object{{"module", name.substr(0, end)},  // .h5 files have the registered name alone
                      {"class_name", name.substr(end + 1)},
                      {"config", config_in_json(json)},
                      {"registered_name", name}};
}

}  // namespace detail

namespace config {
namespace {

// The name of a function in its envelope: {"class_name": "function", "config": name}.
std::string function_in(const Json& json) { return text_at(json, "config"); }

// The name of an object; an error if there is none.
std::string name_in(const Json& json) {
  const std::string name = detail::name_in_json(json);
  return name.empty() ? json.at("class_name").as_string() : name;
}

[[noreturn]] void fail_unknown(std::string_view kind, const std::string& name,
                               std::string_view function) {
  fail("Could not interpret ", kind, " identifier: ", name,
       ". If it is yours, bind C++ to its name: load_model(path, {.custom_objects = {{\"", name,
       "\", ", function, "}}})");
}

// A function of Keras in an envelope is known by its name alone.
Json without_envelope(const Json& json) {
  const std::string function = function_in(json);
  return function.empty() ? json : Json(function);
}

// Reads the user's object, or Keras's.
template <class T>
void read_part(const Json& json, T& out, const ConfigContext& context, std::string_view kind,
               std::string_view function) {
  if (!json.is_null()) {
    const std::string name = name_in(json);
    const bool known = T::knows(name);
    if (auto custom = detail::custom_unless_keras<T>(json, context, known)) {
      out = std::move(*custom);
      return;
    }
    if (!known || detail::owner_in(json) == detail::Owner::user) fail_unknown(kind, name, function);
  }
  out = T::from_json(without_envelope(json));
}

}  // namespace

void read(const Json& json, Activation& out, const ConfigContext& context) {
  if (json.is_null() || is_keras2_hard_sigmoid(json)) {
    out = Activation::from_json(json);
    return;
  }
  const std::string name = name_in(json);
  const bool function = !json.is_object() || !function_in(json).empty();
  const bool known = Activation::knows(function ? name : snake_case(name));
  if (auto custom = detail::custom_unless_keras<Activation>(json, context, known)) {
    out = std::move(*custom);
    return;
  }
  // An activation may be any layer. Keras 2 names activation layers without an envelope.
  const Json envelope =
      function ? Json(Json::Object{{"class_name", name}, {"config", Json::object()}}) : json;
  const bool of_user = detail::owner_in(json) == detail::Owner::user;
  if (!of_user && function && Activation::knows(name))
    out = Activation(name);
  else if (context.names_layer && context.names_layer(envelope))
    out = context.make_layer(envelope);
  else if (!of_user && !function && known)
    out = Activation(snake_case(name));
  else
    fail_unknown("activation function", name, "[](Value x) { return x; }");
}

void read(const Json& json, Initializer& out, const ConfigContext& context) {
  read_part(json, out, context, "initializer",
            "[](const Shape& shape, DType dtype, uint64_t seed) { return "
            "Tensor::zeros(dtype, shape); }");
}

void read(const Json& json, Regularizer& out, const ConfigContext& context) {
  read_part(json, out, context, "regularizer", "[](Value weight) { return ops::sum(weight); }");
}

void read(const Json& json, Constraint& out, const ConfigContext& context) {
  read_part(json, out, context, "constraint", "[](Value weight) { return weight; }");
}

}  // namespace config
}  // namespace keratin
