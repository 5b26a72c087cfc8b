#include "keratin/graph/config.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "keratin/base/text.h"
#include "keratin/graph/keras2_activation.h"
#include "keratin/graph/saved_form.h"

namespace keratin {
namespace {

using Copies = std::unordered_map<const Layer*, LayerPtr>;
thread_local std::optional<Copies> copies;

}  // namespace

CopyScope::CopyScope() : outermost_(!copies.has_value()) {
  if (outermost_) copies.emplace();
}

CopyScope::~CopyScope() {
  if (outermost_) copies.reset();
}

LayerPtr detail::copy_of(const LayerPtr& layer) {
  const CopyScope scope;
  const auto found = copies->find(layer.get());
  if (found != copies->end()) return found->second;
  LayerPtr copy = layer->fresh_copy();
  if (layer->saved_class()) copy->set_saved_class(*layer->saved_class());
  copies->emplace(layer.get(), copy);
  return copy;
}

Json detail::shape_json(const Shape& shape) {
  Json json = Json::array();
  for (const int64_t size : shape) json.push_back(size == unknown ? Json() : Json(size));
  return json;
}

Shape detail::shape_from_json(const Json& json) {
  Dims dims;
  for (const Json& size : json.as_array()) {
    dims.push_back(size.is_null() ? unknown : size.as_int());
    require(size.is_null() || dims.back() >= 0, "shape: expected sizes that are not negative, got ",
            json);
  }
  require(dims.size() <= max_rank, "shape: expected at most ", max_rank, " dimensions, got ", json);
  return dims;
}

namespace {

Json shapes_json(std::span<const Shape> shapes) {
  Json all = Json::array();
  for (const Shape& shape : shapes) all.push_back(detail::shape_json(shape));
  return all;
}

// In Keras, attention and recurrent layers are built by the shapes of all their arguments; others,
// cells of recurrent layers among them, by that of the first.
bool built_by_arguments(const Layer& layer) {
  const auto names = layer.argument_names();
  return layer.registered_name().empty() && names.size() > 1 &&
         (names[0] == "query" || names[0] == "sequences");
}

// The shapes for which a layer was built: those of its input, or of several arguments by name. All
// shapes that are left belong to the last argument, which is a list then.
Json build_config(const Layer& layer) {
  const std::span<const Shape> shapes = layer.built_with();
  const auto names = layer.argument_names();
  if (shapes.size() > 1 && names.size() == 1)
    return Json::Object{{"input_shape", shapes_json(shapes)}};
  if (shapes.size() == 1 || !built_by_arguments(layer))
    return Json::Object{{"input_shape", detail::shape_json(shapes[0])}};
  Json by_name = Json::object();
  for (size_t i = 0; i < std::min(shapes.size(), names.size()); ++i) {
    const bool rest = i + 1 == names.size() && shapes.size() > names.size();
    by_name[std::string(names[i]) + "_shape"] =
        rest ? shapes_json(shapes.subspan(i)) : detail::shape_json(shapes[i]);
  }
  return Json::Object{{"shapes_dict", by_name}};
}

// A layer's config with names that Keras 3 has.
Json portable_config(const Layer& layer) {
  Json config = layer.get_config();
  for (const char* key : {"activation", "recurrent_activation"})
    if (const Json* name = config.find(key); name != nullptr && *name == Json(keras2_hard_sigmoid))
      config[key] = keras2_hard_sigmoid_json();
  return config;
}

// What the scope of this thread has; null outside of one.
thread_local bool (*has_name_of_keras)(const Layer& layer) = nullptr;

}  // namespace

detail::OwnNamesScope::OwnNamesScope(bool (*test)(const Layer& layer)) { has_name_of_keras = test; }

detail::OwnNamesScope::~OwnNamesScope() { has_name_of_keras = nullptr; }

SavedClass detail::saved_class_of(const Layer& layer) {
  if (layer.saved_class()) return *layer.saved_class();
  SavedClass names{std::string(layer.class_name()), std::string(layer.module()),
                   std::string(layer.registered_name())};
  std::string registered = registered_class(typeid(layer));
  if (registered.empty() && has_name_of_keras != nullptr && has_name_of_keras(layer))
    registered = "Custom>" + names.class_name;
  if (registered.empty() || !names.registered_name.empty()) return names;
  names.module = registered.substr(0, registered.rfind('>'));
  names.registered_name = registered;
  return names;
}

Json serialize_layer(const Layer& layer) {
  if (const auto other = detail::saved_form(layer)) return serialize_layer(*other);
  const SavedClass names = detail::saved_class_of(layer);
  const std::string& registered = names.registered_name;
  Json json = Json::Object{{"module", names.module.empty() ? Json() : Json(names.module)},
                           {"class_name", names.class_name},
                           {"config", portable_config(layer)},
                           {"registered_name", registered.empty() ? Json() : Json(registered)}};
  if (names.config.is_object())
    for (const auto& [key, value] : names.config.as_object())
      if (!json.at("config").contains(key)) json["config"][key] = value;
  if (layer.built() && !layer.built_with().empty()) json["build_config"] = build_config(layer);
  return json;
}

LayerOptions detail::read_options(const Json& config, const ConfigContext& context) {
  LayerOptions options;
  if (const Json* name = config.find("name"); name != nullptr && !name->is_null()) {
    require(name->is_string(), "Argument `name` must be a string. Received: name=", *name);
    options.name = name->as_string();
  }
  if (const Json* trainable = config.find("trainable"); trainable != nullptr)
    options.trainable = config::as_bool(*trainable);
  if (const Json* dtype = config.find("dtype"); dtype != nullptr && !dtype->is_null())
    options.dtype = DTypePolicy::from_json(*dtype);
  if (const Json* penalty = config.find("activity_regularizer"); penalty != nullptr)
    config::read(*penalty, options.activity_regularizer, context);
  return options;
}

bool detail::is_option(std::string_view key) {
  // batch_input_shape is the input's shape in Keras 2, in the first layer of a Sequential.
  return key == "name" || key == "trainable" || key == "dtype" || key == "batch_input_shape" ||
         key == "batch_shape" || key == "activity_regularizer";
}

}  // namespace keratin
