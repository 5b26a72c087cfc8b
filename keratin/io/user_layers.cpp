#include "keratin/io/user_layers.h"

#include <algorithm>
#include <set>
#include <string>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/layers/registry.h"

namespace keratin::io {
namespace {

// True for the envelope of a layer that says it is Keras's, and is not.
bool is_of_user(const Json& json) {
  const Json* module = json.find("module");
  const Json* name = json.find("class_name");
  const Json* registered = json.find("registered_name");
  if (module == nullptr || *module != Json("keras.layers") || name == nullptr ||
      !name->is_string() || registered == nullptr || !registered->is_null())
    return false;
  static const std::vector<std::string_view> known = layer_names();
  return !std::binary_search(known.begin(), known.end(), name->as_string());
}

void name_layers(Json& json, std::set<std::string>& classes) {
  if (json.is_array()) {
    Json::Array items;
    for (Json item : json.as_array()) {
      name_layers(item, classes);
      items.push_back(std::move(item));
    }
    json = std::move(items);
  }
  if (!json.is_object()) return;
  if (is_of_user(json)) {
    classes.insert(json.at("class_name").as_string());
    json["module"] = nullptr;
    json["registered_name"] = json.at("class_name");
  }
  Json::Object named;
  for (auto [key, value] : json.as_object()) {
    name_layers(value, classes);
    named.emplace_back(key, std::move(value));
  }
  json = std::move(named);
}

// Whether any layer needs a name: most models have none.
bool has_user_layer(const Json& json) {
  if (json.is_array())
    return std::any_of(json.as_array().begin(), json.as_array().end(), has_user_layer);
  return json.is_object() &&
         (is_of_user(json) ||
          std::any_of(json.as_object().begin(), json.as_object().end(),
                      [](const auto& item) { return has_user_layer(item.second); }));
}

}  // namespace

Json with_user_layers(Json config) {
  if (!has_user_layer(config)) return config;
  std::set<std::string> classes;
  name_layers(config, classes);
  for (const std::string& name : classes)
    warn(text("save: the layer class ", name,
              " is neither Keras's nor registered, so the file has its name alone. "
              "register_serializable<",
              name,
              ">(\"package\") gives it a package; Python opens the file with "
              "custom_objects={\"",
              name, "\": …}"));
  return config;
}

}  // namespace keratin::io
