#include "keratin/io/keras2_add_loss.h"

#include <algorithm>
#include <set>

#include "keratin/base/text.h"
#include "keratin/io/keras2_config.h"

namespace keratin::io {
namespace {

// True for a reference to a layer's output, such as ["dense", 0, 0].
bool is_output_reference(const Json& json) {
  return json.is_array() && json.size() >= 3 && json[0].is_string() && json[1].is_number() &&
         json[2].is_number();
}

using LayerNames = std::set<std::string, std::less<>>;

// Adds the names of the layers that this JSON refers to.
void note_references(const Json& json, LayerNames& names) {
  if (is_output_reference(json)) names.insert(json[0].as_string());
  if (json.is_array()) {
    for (const Json& item : json.as_array()) note_references(item, names);
  } else if (json.is_object()) {
    for (const auto& item : json.as_object()) note_references(item.second, names);
  }
}

const Json* member_of(const Json& json, std::string_view key) {
  return json.is_object() ? json.find(key) : nullptr;
}

// The loss of an AddLoss that has one call, on one tensor; null for anything else.
const Json* loss_of(const Json& layer) {
  const Json *kind = member_of(layer, "class_name"), *calls = member_of(layer, "inbound_nodes");
  if (kind == nullptr || *kind != Json("AddLoss") || member_of(layer, "name") == nullptr)
    return nullptr;
  if (calls == nullptr || !calls->is_array() || calls->size() != 1) return nullptr;
  const Json& call = (*calls)[0];
  if (is_output_reference(call)) return &call;
  return call.is_array() && call.size() == 1 && is_output_reference(call[0]) ? &call[0] : nullptr;
}

// The names of all layers whose outputs a graph uses.
LayerNames used_layers(const Json& config) {
  LayerNames names;
  note_references(config.at("output_layers"), names);
  for (const Json& layer : config.at("layers").as_array())
    if (const Json* calls = member_of(layer, "inbound_nodes")) note_references(*calls, names);
  return names;
}

bool is_beside(const Json& layer, const LayerNames& used) {
  return loss_of(layer) != nullptr && !used.contains(layer.at("name").as_string());
}

const Json* config_of_graph(const Json& model) {
  const Json* config = member_of(model, "config");
  if (config == nullptr || member_of(*config, "output_layers") == nullptr) return nullptr;
  const Json* layers = member_of(*config, "layers");
  return layers != nullptr && layers->is_array() ? config : nullptr;
}

// The first reference in this JSON; null if there is none.
const Json* first_reference(const Json& ends) {
  if (is_output_reference(ends)) return &ends;
  if (ends.is_array()) {
    for (const Json& item : ends.as_array())
      if (const Json* found = first_reference(item)) return found;
  } else if (ends.is_object()) {
    for (const auto& item : ends.as_object())
      if (const Json* found = first_reference(item.second)) return found;
  }
  return nullptr;
}

// The same JSON with this part of it replaced.
Json with_part(const Json& json, const Json* part, const Json& by) {
  if (&json == part) return by;
  if (json.is_array()) {
    Json items = Json::array();
    for (const Json& item : json.as_array()) items.push_back(with_part(item, part, by));
    return items;
  }
  if (!json.is_object()) return json;
  Json members = Json::object();
  for (const auto& [key, value] : json.as_object()) members[key] = with_part(value, part, by);
  return members;
}

// The same object with one key replaced.
Json with_key(const Json& object, const Json& key, const std::string& by) {
  Json out = Json::object();
  for (const auto& [name, value] : object.as_object())
    out[Json(name) == key ? by : std::string(name)] = value;
  return out;
}

}  // namespace

bool has_losses_beside(const Json& model) {
  const Json* config = config_of_graph(model);
  if (config == nullptr) return false;
  const Json::Array& layers = config->at("layers").as_array();
  const auto adds_loss = [](const Json& layer) { return loss_of(layer) != nullptr; };
  if (std::none_of(layers.begin(), layers.end(), adds_loss)) return false;
  const LayerNames used = used_layers(*config);
  return std::any_of(layers.begin(), layers.end(),
                     [&](const Json& layer) { return is_beside(layer, used); });
}

Json with_losses_inside(const Json& model) {
  const Json& config = *config_of_graph(model);
  const Json& ends = config.at("output_layers");
  const Json* first = first_reference(ends);
  require(first != nullptr, "a model with an AddLoss has no output");
  const LayerNames used = used_layers(config);
  Json output = *first, layers = Json::array();
  for (Json layer : config.at("layers").as_array()) {
    if (is_beside(layer, used)) {
      Json value = output;
      value.push_back(Json::object());
      layer["inbound_nodes"] = Json::Array{Json::Array{value, *loss_of(layer)}};
      output = Json::Array{layer.at("name"), 0, 0};
    }
    layers.push_back(layer);
  }
  Json out = model;
  out["config"]["output_layers"] = with_part(ends, first, output);
  out["config"]["layers"] = layers;
  return out;
}

Json for_losses_inside(const Json& training, const Json& model) {
  if (!has_losses_beside(model)) return training;
  const Json inside = with_losses_inside(model);
  const Json* before = first_reference(model.at("config").at("output_layers"));
  const Json* now = first_reference(inside.at("config").at("output_layers"));
  ensure(before != nullptr && now != nullptr, "a model with an AddLoss has an output");
  Json out = training;
  for (const char* key : {"loss", "loss_weights", "metrics", "weighted_metrics"})
    if (const Json* value = member_of(training, key); value != nullptr && value->is_object())
      out[key] = with_key(*value, (*before)[0], portable_name((*now)[0].as_string()));
  return out;
}

}  // namespace keratin::io
