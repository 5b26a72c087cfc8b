#include "keratin/io/keras1_config.h"

#include <algorithm>
#include <map>

#include "keratin/base/text.h"

namespace keratin::io {
namespace {

using O = Json::Object;
using Words = std::map<std::string_view, std::string_view>;

const Words classes = {
    {"Convolution1D", "Conv1D"},
    {"Convolution2D", "Conv2D"},
    {"Convolution3D", "Conv3D"},
    {"AtrousConvolution1D", "Conv1D"},
    {"AtrousConvolution2D", "Conv2D"},
    {"Deconvolution2D", "Conv2DTranspose"},
    {"SeparableConvolution2D", "SeparableConv2D"},
};
const Words keys = {
    {"init", "kernel_initializer"},
    {"inner_init", "recurrent_initializer"},
    {"gamma_init", "gamma_initializer"},
    {"beta_init", "beta_initializer"},
    {"depthwise_init", "depthwise_initializer"},
    {"pointwise_init", "pointwise_initializer"},
    {"W_regularizer", "kernel_regularizer"},
    {"U_regularizer", "recurrent_regularizer"},
    {"b_regularizer", "bias_regularizer"},
    {"W_constraint", "kernel_constraint"},
    {"b_constraint", "bias_constraint"},
    {"inner_activation", "recurrent_activation"},
    {"dropout_W", "dropout"},
    {"dropout_U", "recurrent_dropout"},
    {"bias", "use_bias"},
    {"border_mode", "padding"},
    {"nb_filter", "filters"},
    {"filter_length", "kernel_size"},
    {"atrous_rate", "dilation_rate"},
    {"subsample", "strides"},
    {"subsample_length", "strides"},
    {"pool_length", "pool_size"},
    {"stride", "strides"},
    {"length", "size"},
    {"p", "rate"},
    {"sigma", "stddev"},
    {"input_dtype", "dtype"},
};
const Words embedding_keys = {{"init", "embeddings_initializer"},
                              {"W_regularizer", "embeddings_regularizer"},
                              {"W_constraint", "embeddings_constraint"}};
const Words prelu_keys = {{"init", "alpha_initializer"}};
const Words initializers = {
    {"uniform", "random_uniform"}, {"normal", "random_normal"}, {"zero", "zeros"}, {"one", "ones"}};
// Keys that chose an implementation, or that repeat what the weights show.
constexpr std::string_view dropped[] = {"consume_less",       "input_length", "output_shape",
                                        "create_input_layer", "weights",      "output_shape_type"};

std::string word(const Words& words, const std::string& old) {
  const auto found = words.find(old);
  return found == words.end() ? old : std::string(found->second);
}

// Converts {"name": "WeightRegularizer", "l1": 0, "l2": 0.01}, L1L2Regularizer and
// ActivityRegularizer.
Json regularizer(const Json& old) {
  if (!old.is_object() || old.contains("class_name")) return old;
  if (const Json* name = old.find("name"))
    require(*name != Json("EigenvalueRegularizer"), "Keras 1's regularizer ", *name,
            " is not supported");
  Json config = Json::object();
  for (const char* key : {"l1", "l2"})
    if (const Json* value = old.find(key)) config[key] = *value;
  return O{{"class_name", "L1L2"}, {"config", config}};
}

// Converts constraints such as {"name": "MaxNorm", "m": 2, "axis": 0}.
Json constraint(const Json& old) {
  if (!old.is_object() || old.contains("class_name")) return old;
  Json config = Json::object();
  for (const auto& [key, value] : old.as_object())
    if (key != "name") config[key == "m" ? "max_value" : key] = value;
  return O{{"class_name", old.at("name")}, {"config", config}};
}

// Converts a padding per side, [1, 2, 3, 4] or {"top_pad": 1, …}, to today's [[1, 2], [3, 4]].
Json padding(const Json& old) {
  Json sides = old;
  if (old.is_object()) {
    sides = Json::array();
    for (const char* key : {"left_pad", "right_pad"})
      if (old.contains("left_pad") && !old.contains("top_pad")) sides.push_back(old.at(key));
    for (const char* key : {"top_pad", "bottom_pad", "left_pad", "right_pad"})
      if (old.contains("top_pad")) sides.push_back(old.at(key));
  }
  if (!sides.is_array() || sides.size() != 4) return sides;
  const Json::Array& all = sides.as_array();
  return Json::Array{Json::Array{all[0], all[1]}, Json::Array{all[2], all[3]}};
}

// Of Keras 1's three modes only mode 0 still exists.
void check_mode(const Json& config) {
  const Json* mode = config.find("mode");
  require(mode == nullptr || *mode == Json(0),
          "BatchNormalization: expected Keras 1's mode 0, got ", mode == nullptr ? Json() : *mode,
          ", which no layer of today has");
}

Json data_format(const Json& ordering) {
  return ordering == Json("th") ? "channels_first" : "channels_last";
}

// Joins sizes that had a key each, such as "nb_row" and "nb_col", into one list.
void gather_sizes(const Json& config, std::initializer_list<const char*> names, Json& out) {
  Json sizes = Json::array();
  for (const char* name : names)
    if (const Json* size = config.find(name)) sizes.push_back(*size);
  if (sizes.size() == names.size()) out["kernel_size"] = sizes;
}

Json layer(const Json& entry);

Json layers(const Json& list) {
  Json out = Json::array();
  for (const Json& entry : list.as_array()) out.push_back(layer(entry));
  return out;
}

bool is_size(std::string_view key) {
  return key == "nb_row" || key == "nb_col" || key.starts_with("kernel_dim");
}

bool is_left_out(const std::string& kind, const std::string& key, const Json& value) {
  if (std::find(std::begin(dropped), std::end(dropped), key) != std::end(dropped)) return true;
  if (key == "input_dim") return kind != "Embedding";
  // Until Keras 2, an Embedding could drop whole words.
  return is_size(key) || (kind == "BatchNormalization" && key == "mode") ||
         (kind == "Embedding" && key == "dropout" && value == Json(0));
}

std::string key_today(const std::string& kind, const std::string& key) {
  const Words& special = kind == "Embedding" ? embedding_keys
                         : kind == "PReLU"   ? prelu_keys
                                             : Words{};
  if (key == "output_dim" && kind != "Embedding") return "units";
  if (key == "dim_ordering") return "data_format";
  if (key == "forget_bias_init") return "unit_forget_bias";
  return special.contains(key) ? std::string(special.at(key)) : word(keys, key);
}

Json value_today(const std::string& key, const std::string& name, const Json& value) {
  if (key == "layer") return layer(value);
  if (key == "dim_ordering") return data_format(value);
  if (key == "forget_bias_init") return value == Json("one");
  if (key == "padding") return padding(value);
  if (name.ends_with("_regularizer")) return regularizer(value);
  if (name.ends_with("_constraint")) return constraint(value);
  if (name.ends_with("_initializer") && value.is_string())
    return word(initializers, value.as_string());
  return value;
}

Json layer_config(const std::string& kind, const Json& config) {
  if (kind == "Lambda") return config;
  if (kind == "BatchNormalization") check_mode(config);
  Json out = Json::object();
  for (const auto& [key, value] : config.as_object()) {
    if (is_left_out(kind, key, value)) continue;
    const std::string name = key_today(kind, key);
    out[name] = value_today(key, name, value);
  }
  gather_sizes(config, {"nb_row", "nb_col"}, out);
  gather_sizes(config, {"kernel_dim1", "kernel_dim2", "kernel_dim3"}, out);
  return out;
}

// Converts a Merge layer, whose modes are separate layers today: see keras2_merge.h.
Json merge(const Json& config) {
  Json out = config;
  if (const Json* branches = config.find("layers")) out["layers"] = layers(*branches);
  return out;
}

// Converts a layer, or a model inside a model.
Json layer(const Json& entry) {
  const std::string kind = word(classes, entry.at("class_name").as_string());
  const Json& config = entry.at("config");
  Json out = entry;
  if (kind == "Merge") {
    out["config"] = merge(config);
  } else if (kind == "Sequential") {
    out["config"] = O{{"layers", layers(config.is_array() ? config : config.at("layers"))}};
    if (const Json* name = entry.find("name")) out["config"]["name"] = *name;
  } else if (kind == "Model") {
    out["config"]["layers"] = layers(config.at("layers"));
  } else {
    out["class_name"] = kind;
    out["config"] = layer_config(kind, config);
  }
  return out;
}

// The orders of dimensions that a model's layers name.
struct Orders {
  bool th = false, tf = false;
  bool all_th() const { return th && !tf; }
};

void note_orders(const Json& json, Orders& orders) {
  if (json.is_array())
    for (const Json& item : json.as_array()) note_orders(item, orders);
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.as_object()) {
    if (key == "dim_ordering") (value == Json("th") ? orders.th : orders.tf) = true;
    note_orders(value, orders);
  }
}

Orders orders_in(const Json& json) {
  Orders orders;
  note_orders(json, orders);
  return orders;
}

constexpr std::string_view silent[] = {"ZeroPadding2D", "ZeroPadding3D", "UpSampling2D",
                                       "UpSampling3D",  "Cropping2D",    "Cropping3D"};

// Some layers follow the global setting and do not write it down: they get the order of the others.
Json saying_th(const Json& json, bool th) {
  if (!th) return json;
  if (json.is_array()) {
    Json items = Json::array();
    for (const Json& item : json.as_array()) items.push_back(saying_th(item, th));
    return items;
  }
  if (!json.is_object()) return json;
  Json::Object members;
  for (const auto& [key, value] : json.as_object()) members.emplace_back(key, saying_th(value, th));
  Json out = members;
  const Json *kind = out.find("class_name"), *config = out.find("config");
  if (kind != nullptr && kind->is_string() && config != nullptr && config->is_object() &&
      !config->contains("dim_ordering") &&
      std::find(std::begin(silent), std::end(silent), kind->as_string()) != std::end(silent))
    out["config"]["dim_ordering"] = "th";
  return out;
}

// Keys that only Keras 1 writes.
constexpr std::string_view marks[] = {"nb_filter",          "border_mode",   "inner_activation",
                                      "dim_ordering",       "input_dtype",   "consume_less",
                                      "create_input_layer", "W_regularizer", "output_mask_type"};

bool is_marked(const Json& json) {
  if (json.is_array())
    return std::any_of(json.as_array().begin(), json.as_array().end(), is_marked);
  if (!json.is_object()) return false;
  for (const auto& [key, value] : json.as_object())
    if (std::find(std::begin(marks), std::end(marks), key) != std::end(marks) || is_marked(value))
      return true;
  return false;
}

}  // namespace

bool is_keras1(const Json& envelope) {
  if (!envelope.is_object() || envelope.contains("module")) return false;
  const Json* version = envelope.find("keras_version");
  if (version != nullptr && version->is_string()) return version->as_string().starts_with("1");
  return is_marked(envelope);
}

Json from_keras1(const Json& envelope) {
  const Json old = saying_th(envelope, orders_in(envelope).all_th());
  return layer(old);
}

}  // namespace keratin::io
