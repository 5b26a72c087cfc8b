#include "keratin/io/user_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/custom_objects.h"
#include "keratin/graph/named.h"
#include "keratin/layers/registry.h"

namespace keratin::io {
namespace {

// What a config has without a package.
struct Found {
  std::set<std::string> layers = {};
  std::set<std::string> classes = {};
  std::map<std::string, std::string> functions = {};  // with what they are, such as "activation"
};

const std::string* text_at(const Json& json, std::string_view key) {
  const Json* found = json.find(key);
  return found != nullptr && found->is_string() ? &found->as_string() : nullptr;
}

const std::vector<std::string_view>& layers_of_keras() {
  static const std::vector<std::string_view> all = layer_names();
  return all;
}

bool is_layer_of_keras(const std::string& name) {
  return std::binary_search(layers_of_keras().begin(), layers_of_keras().end(), name);
}

bool is_name_of_keras(const std::string& name) {
  return is_layer_of_keras(name) || Activation::knows(name) ||
         Activation::knows(snake_case(name)) || Initializer::knows(name) ||
         Regularizer::knows(name) || Constraint::knows(name);
}

// True for the envelope of a layer that says it is Keras's, and is not.
bool is_layer(const Json& json) {
  const std::string* module = text_at(json, "module");
  const std::string* name = text_at(json, "class_name");
  const Json* registered = json.find("registered_name");
  if (module == nullptr || *module != "keras.layers" || name == nullptr || registered == nullptr ||
      !registered->is_null())
    return false;
  return !is_layer_of_keras(*name);
}

// True for a name without a package, or with one that it has because Keras has the name, too.
bool is_bare(const std::string& name) {
  const std::string rest = detail::without_package(name);
  return rest == name || (name == "Custom>" + rest && is_name_of_keras(rest));
}

// True for the envelope of another class without a package.
bool is_class(const Json& json) {
  const Json* module = json.find("module");
  const std::string* name = text_at(json, "class_name");
  const std::string* registered = text_at(json, "registered_name");
  return module != nullptr && name != nullptr && registered != nullptr && is_bare(*registered) &&
         *name == detail::without_package(*registered) &&
         (module->is_null() || *module == Json("Custom"));
}

bool is_function(const Json& json) {
  const std::string* name = text_at(json, "class_name");
  const std::string* function = text_at(json, "config");
  return name != nullptr && *name == "function" && function != nullptr && is_bare(*function);
}

// Lambdas keep functions of Python.
bool keeps_python(const Json& json) {
  const std::string* name = text_at(json, "class_name");
  return name != nullptr && *name == "Lambda";
}

// "recurrent_activation" is an activation.
std::string kind_of(const std::string& key) { return key.substr(key.rfind('_') + 1); }

void add_names(const std::string& key, Json& json, Found& found) {
  if (json.is_array()) {
    Json::Array items;
    for (Json item : json.as_array()) {
      add_names(key, item, found);
      items.push_back(std::move(item));
    }
    json = std::move(items);
  }
  if (!json.is_object() || keeps_python(json)) return;
  if (is_function(json))
    found.functions.emplace(json.at("config").as_string(), kind_of(key));
  else if (is_class(json))
    found.classes.insert(json.at("registered_name").as_string());
  if (is_layer(json)) {
    found.layers.insert(json.at("class_name").as_string());
    json["module"] = nullptr;
    json["registered_name"] = json.at("class_name");
  }
  Json::Object named;
  for (auto [name, value] : json.as_object()) {
    add_names(name, value, found);
    named.emplace_back(name, std::move(value));
  }
  json = std::move(named);
}

// Whether anything in it needs a name or a warning: most models have nothing.
bool has_user_name(const Json& json) {
  if (json.is_array())
    return std::any_of(json.as_array().begin(), json.as_array().end(), has_user_name);
  return json.is_object() && !keeps_python(json) &&
         (is_layer(json) || is_class(json) || is_function(json) ||
          std::any_of(json.as_object().begin(), json.as_object().end(),
                      [](const auto& item) { return has_user_name(item.second); }));
}

}  // namespace

Json config_to_save(const Layer& model) {
  const detail::OwnNamesScope scope(detail::has_name_of_keras);
  Json config = serialize_layer(model);
  if (!has_user_name(config)) return config;
  Found found;
  add_names("", config, found);
  for (const std::string& name : found.layers)
    warn(text("save: the layer class ", name,
              " is neither Keras's nor registered, so the file has its name alone. "
              "register_serializable<",
              name,
              ">(\"package\") gives it a package; Python opens the file with "
              "custom_objects={\"",
              name, "\": …}"));
  for (const std::string& name : found.classes) detail::warn_of_class(name);
  for (const auto& [name, kind] : found.functions)
    detail::warn_of_function(kind, detail::without_package(name), name.find('>') != name.npos);
  return config;
}

}  // namespace keratin::io
