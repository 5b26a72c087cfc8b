#include "keratin/io/keras2_config.h"

#include <algorithm>
#include <optional>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/custom_objects.h"
#include "keratin/graph/keras2_activation.h"
#include "keratin/io/keras1_config.h"
#include "keratin/io/keras2_add_loss.h"
#include "keratin/io/keras2_merge.h"
#include "keratin/io/old_version.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin::io {
namespace {

bool holds_activation(std::string_view key) {
  return key == "activation" || key == "recurrent_activation";
}

// True for "hard_sigmoid" and {"class_name": "function", "config": "hard_sigmoid"}.
bool is_hard_sigmoid(const Json& activation) {
  if (!activation.is_object()) return activation == Json("hard_sigmoid");
  const Json* name = activation.find("config");
  return name != nullptr && *name == Json("hard_sigmoid");
}

// Makes a schedule of a learning rate with decay: the rate of step i is rate / (1 + decay · i).
Json with_decay(const Json& rate, double decay) {
  if (decay == 0) return rate;
  if (!rate.is_number()) {
    warn(
        text("the optimizer's learning rate is a schedule; its `decay` of ", decay, " is ignored"));
    return rate;
  }
  return Json::Object{
      {"class_name", "InverseTimeDecay"},
      {"config",
       Json::Object{{"initial_learning_rate", rate}, {"decay_steps", 1}, {"decay_rate", decay}}}};
}

// The name of the class. Keras 2 writes its own optimizers as "Custom>Adam", the default package of
// what users register, into .h5 files: such a name is the user's if something is bound to it.
Json optimizer_class_of_keras2(const Json& envelope) {
  const Json& name = envelope.at("class_name");
  if (!name.is_string() || !name.as_string().starts_with("Custom>")) return name;
  bool is_bound = false;
  detail::find_custom(
      envelope, [&](const CustomObject& object) { return is_bound = object.makes<Optimizer>(); });
  return is_bound ? name : Json(detail::without_package(name.as_string()));
}

// Converts {"class_name", "config"} of an optimizer. Keras 1 and early versions of Keras 2 wrote
// "lr" for the learning rate, null for the default epsilon, and Nadam's schedule of momentum, which
// is fixed today.
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
  if (envelope.contains("class_name")) today["class_name"] = optimizer_class_of_keras2(envelope);
  today["config"] = members;
  return today;
}

using O = Json::Object;

// Converts an initializer: its "dtype" was that of the variable, and its "normal" distribution is
// "truncated_normal" today.
Json initializer_of_keras2(const Json& envelope) {
  const Json* config = envelope.is_object() ? envelope.find("config") : nullptr;
  if (config == nullptr || !config->is_object()) return envelope;
  Json members = Json::object();
  for (const auto& [key, value] : config->as_object())
    if (key != "dtype")
      members[key] = key == "distribution" && value == Json("normal") ? "truncated_normal" : value;
  Json today = envelope;
  today["config"] = members;
  return today;
}

// True for a learning rate schedule with the name null, which Keras 3 refuses.
bool is_nameless_schedule(const Json& config) {
  const Json* name = config.find("name");
  return name != nullptr && name->is_null() &&
         (config.contains("decay_steps") || config.contains("first_decay_steps") ||
          config.contains("boundaries"));
}

bool is_integer(const Json* dtype) {
  return dtype != nullptr && dtype->is_string() &&
         (dtype->as_string().starts_with("int") || dtype->as_string().starts_with("uint"));
}

// True for an Embedding of Keras before 2.0.3, whose dtype was that of its input.
bool is_embedding_of_integers(const Json& envelope) {
  return envelope.at("class_name") == Json("Embedding") &&
         is_integer(envelope.at("config").find("dtype"));
}

Json without(const Json& object, std::string_view left_out) {
  Json out = Json::object();
  for (const auto& [key, value] : object.as_object())
    if (key != left_out) out[key] = value;
  return out;
}

Json with_config(const Json& envelope, Json config) {
  Json out = envelope;
  out["config"] = std::move(config);
  return out;
}

// Adds an InputLayer to a Sequential whose first layer is an Embedding of integers.
std::optional<Json> with_input_layer(const Json& sequential) {
  const Json& config = sequential.at("config");
  const Json::Array& layers = (config.is_array() ? config : config.at("layers")).as_array();
  if (layers.empty() || !is_embedding_of_integers(layers[0])) return std::nullopt;
  const Json& first = layers[0].at("config");
  const Json* shape = first.find("batch_input_shape");
  if (shape == nullptr || !first.contains("name")) return std::nullopt;
  Json all = Json::Array{O{{"class_name", "InputLayer"},
                           {"config", O{{"name", first.at("name").as_string() + "_input"},
                                        {"batch_input_shape", *shape},
                                        {"dtype", first.at("dtype")},
                                        {"sparse", false}}}}};
  all.push_back(with_config(layers[0], without(first, "batch_input_shape")));
  for (size_t i = 1; i < layers.size(); ++i) all.push_back(layers[i]);
  if (config.is_array()) return with_config(sequential, O{{"layers", all}});
  Json today = config;
  today["layers"] = all;
  return with_config(sequential, today);
}

// Converts a metric that wraps a cosine function. In TensorFlow, the functions of metrics and
// losses had the same names but opposite signs.
std::optional<Json> metric_of_keras2(const Json& wrapper) {
  const Json* function = wrapper.at("config").find("fn");
  if (function == nullptr || !function->is_string()) return std::nullopt;
  const std::string& name = function->as_string();
  if (name != "cosine_proximity" && name != "cosine_similarity") return std::nullopt;
  return O{{"class_name", "CosineSimilarity"}, {"config", without(wrapper.at("config"), "fn")}};
}

// The layer or metric that replaces this one today, or nothing if it is the same. Configs inside
// the result are not converted yet.
std::optional<Json> replaced(const Json& json) {
  const Json *kind = json.find("class_name"), *config = json.find("config");
  if (kind == nullptr || !kind->is_string() || config == nullptr) return std::nullopt;
  const std::string& name = kind->as_string();
  if (name == "Sequential") {
    if (begins_with_merge(json)) return model_for_merge(json);
    if (auto with_input = with_input_layer(json)) return with_input;
  }
  if (!config->is_object()) return std::nullopt;
  if (has_losses_beside(json)) return with_losses_inside(json);
  if (name == "Merge" && config->contains("mode")) return layer_for_merge(json);
  if (name == "MeanMetricWrapper") return metric_of_keras2(json);
  if (name == "Embedding" && is_embedding_of_integers(json))
    return with_config(json, without(*config, "dtype"));
  if (name == "ThresholdedReLU" && config->contains("theta")) {
    Json relu = with_config(json, without(*config, "theta"));
    relu["class_name"] = "ReLU";
    relu["config"]["threshold"] = config->at("theta");
    return relu;
  }
  return std::nullopt;
}

// True for a reference to a layer's output, such as ["dense", 0, 0].
bool is_reference(const Json& json) {
  return json.size() >= 3 && json[0].is_string() && json[1].is_number() && json[2].is_number();
}

// True for a dict by output, such as {"output": "mse"}.
bool is_by_output(const std::string& key, const Json& value) {
  return (key == "loss" || key == "loss_weights" || key == "metrics" ||
          key == "weighted_metrics") &&
         value.is_object() && !value.contains("class_name");
}

Json with_portable_keys(const Json& by_output) {
  Json out = Json::object();
  for (const auto& [key, value] : by_output.as_object()) out[portable_name(key)] = value;
  return out;
}

Json array_from_keras2(const Json& list) {
  Json items = Json::array();
  for (const Json& item : list.as_array()) items.push_back(from_keras2(item));
  if (!is_reference(list)) return items;
  Json renamed = Json::Array{portable_name(list[0].as_string())};
  for (size_t i = 1; i < items.size(); ++i) renamed.push_back(items[i]);
  return renamed;
}

Json member_from_keras2(const std::string& key, const Json& value) {
  if (key == "reduction" && value == Json("auto")) return "sum_over_batch_size";
  if (key == "optimizer" || key == "optimizer_config" || key == "inner_optimizer") {
    const Json optimizer = optimizer_of_keras2(value);
    return optimizer.is_string() ? optimizer : from_keras2(optimizer);
  }
  if (key == "name" && value.is_string()) return portable_name(value.as_string());
  if (holds_activation(key) && is_hard_sigmoid(value)) return Json(keras2_hard_sigmoid);
  if (key.ends_with("initializer")) return initializer_of_keras2(value);
  return from_keras2(is_by_output(key, value) ? with_portable_keys(value) : value);
}

bool is_lambda(const Json& config) {
  const Json* kind = config.find("class_name");
  return kind != nullptr && *kind == Json("Lambda");
}

// Converts a Lambda's name and inputs, but not its function and arguments.
Json lambda_from_keras2(const Json& envelope) {
  Json out = envelope;
  for (const auto& [key, value] : envelope.as_object()) {
    if (key == "name" && value.is_string()) out[key] = portable_name(value.as_string());
    if (key == "inbound_nodes") out[key] = from_keras2(value);
  }
  const Json& config = envelope.at("config");
  if (const Json* name = config.is_object() ? config.find("name") : nullptr;
      name != nullptr && name->is_string())
    out["config"]["name"] = portable_name(name->as_string());
  return out;
}

// The value of a NumPy number, {"type": "ndarray", "value": 0.3}; null for other JSON.
const Json* numpy_number(const Json& json) {
  const Json* type = json.find("type");
  return type != nullptr && *type == Json("ndarray") ? json.find("value") : nullptr;
}

// Keys of separable convolutions that Keras 2 wrote without using them.
constexpr std::string_view of_separable[] = {"groups", "kernel_initializer", "kernel_regularizer",
                                             "kernel_constraint"};

// True for keys without effect: Keras 2 did not use them, or used them in `build` alone.
bool is_dead(std::string_view class_name, std::string_view key, const Json& value) {
  if (class_name == "Embedding") return key == "input_length";
  if (class_name == "MultiHeadAttention")
    return key == "query_shape" || key == "key_shape" || key == "value_shape";
  if (class_name == "ConvLSTM2D") return key == "implementation";
  if (class_name.starts_with("SpatialDropout")) return key == "noise_shape" && value.is_null();
  if (class_name.starts_with("SeparableConv"))
    return std::find(std::begin(of_separable), std::end(of_separable), key) !=
               std::end(of_separable) &&
           (key != "groups" || value == Json(1));
  return false;
}

// The config of a class without keys that have no effect.
Json live_config(const Json* class_name, const Json& config) {
  if (class_name == nullptr || !class_name->is_string() || !config.is_object()) return config;
  Json live = Json::object();
  for (const auto& [key, value] : config.as_object())
    if (!is_dead(class_name->as_string(), key, value)) live[key] = value;
  return live;
}

}  // namespace

std::string portable_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

Json from_keras2(const Json& config) {
  if (config.is_array()) return array_from_keras2(config);
  if (!config.is_object()) return config;
  if (const Json* number = numpy_number(config)) return *number;
  if (const auto other = replaced(config)) return from_keras2(*other);
  if (is_lambda(config)) return lambda_from_keras2(config);
  const bool is_loss = config.contains("reduction"), nameless = is_nameless_schedule(config);
  Json::Object members;
  for (const auto& [key, value] : config.as_object()) {
    if (is_loss && key == "fn") continue;  // the function follows from the class
    if (nameless && key == "name") continue;
    members.emplace_back(
        key, member_from_keras2(
                 key, key == "config" ? live_config(config.find("class_name"), value) : value));
  }
  return members;
}

namespace {

bool samples_bilinearly(const Json& json) {
  if (json.is_array())
    return std::any_of(json.as_array().begin(), json.as_array().end(), samples_bilinearly);
  if (!json.is_object()) return false;
  for (const auto& [key, value] : json.as_object())
    if ((key == "interpolation" && value == Json("bilinear")) || samples_bilinearly(value))
      return true;
  return false;
}

}  // namespace

void warn_of_other_sampling(const Json& config, const std::string& version) {
  const bool is_multi_backend_keras =
      !is_before(version, 2, 2, 0) && is_before(version, 2, 4, 0) && !version.ends_with("-tf");
  if (is_multi_backend_keras && samples_bilinearly(config))
    warn(text("UpSampling2D with bilinear interpolation sampled other positions in Keras ", version,
              " on TensorFlow 1 than it does today"));
}

Json unpacked_json(std::string_view encoded) {
  constexpr int max_encodings = 4;
  Json json = Json::parse(encoded);
  for (int i = 0; i < max_encodings && json.is_string(); ++i) json = Json::parse(json.as_string());
  return json;
}

Json from_old(const Json& config, bool keras1) {
  return from_keras2(keras1 ? from_keras1(config) : config);
}

}  // namespace keratin::io
