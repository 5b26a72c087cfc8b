#include "keratin/io/keras2_config.h"

#include "keratin/graph/keras2_activation.h"

namespace keratin::io {
namespace {

bool holds_activation(std::string_view key) {
  return key == "activation" || key == "recurrent_activation";
}

// By its name, or as {"class_name": "function", "config": name}.
bool is_hard_sigmoid(const Json& activation) {
  if (!activation.is_object()) return activation == Json("hard_sigmoid");
  const Json* name = activation.find("config");
  return name != nullptr && *name == Json("hard_sigmoid");
}

}  // namespace

Json from_keras2(const Json& config) {
  if (config.is_array()) {
    Json items = Json::array();
    for (const Json& item : config.as_array()) items.push_back(from_keras2(item));
    return items;
  }
  if (!config.is_object()) return config;
  const Json* kind = config.find("class_name");
  if (kind != nullptr && *kind == Json("Lambda")) return config;
  const bool is_loss = config.contains("reduction");
  Json::Object members;
  for (const auto& [key, value] : config.as_object()) {
    if (is_loss && key == "fn") continue;  // the class says it
    if (key == "reduction" && value == Json("auto")) {
      members.emplace_back(key, "sum_over_batch_size");
      continue;
    }
    const bool old = holds_activation(key) && is_hard_sigmoid(value);
    members.emplace_back(key, old ? Json(keras2_hard_sigmoid) : from_keras2(value));
  }
  return members;
}

}  // namespace keratin::io
