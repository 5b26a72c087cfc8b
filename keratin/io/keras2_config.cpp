#include "keratin/io/keras2_config.h"

#include "keratin/base/warning.h"
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

// The rate of step i was rate / (1 + decay · i).
Json with_decay(const Json& rate, double decay) {
  if (decay == 0) return rate;
  if (!rate.is_number()) {
    warn(text("the optimizer's learning rate follows a schedule; its `decay` of ", decay,
              " beside that is left out"));
    return rate;
  }
  return Json::Object{
      {"class_name", "InverseTimeDecay"},
      {"config",
       Json::Object{{"initial_learning_rate", rate}, {"decay_steps", 1}, {"decay_rate", decay}}}};
}

// {"class_name", "config"} of an optimizer. Keras 1 and the first of Keras 2 said "lr", wrote null
// for the usual epsilon, and how the momentum of Nadam grows, which is fixed today.
Json optimizer_of_keras2(const Json& envelope) {
  const Json* config = envelope.is_object() ? envelope.find("config") : nullptr;
  if (config == nullptr || !config->is_object()) return envelope;
  Json::Object members;
  double decay = 0;
  for (const auto& [key, value] : config->as_object()) {
    if (key == "decay")
      decay = value.is_null() ? 0 : value.as_double();
    else if (key == "lr")
      members.emplace_back("learning_rate", value);
    else if (key != "schedule_decay" && !(key == "epsilon" && value.is_null()))
      members.emplace_back(key, value);
  }
  for (auto& [key, value] : members)
    if (key == "learning_rate") value = with_decay(value, decay);
  Json today = envelope;
  today["config"] = members;
  return today;
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
    if (key == "optimizer" || key == "optimizer_config") {
      members.emplace_back(key, optimizer_of_keras2(value));
      continue;
    }
    const bool old = holds_activation(key) && is_hard_sigmoid(value);
    members.emplace_back(key, old ? Json(keras2_hard_sigmoid) : from_keras2(value));
  }
  return members;
}

}  // namespace keratin::io
