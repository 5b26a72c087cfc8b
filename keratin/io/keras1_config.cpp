#include "keratin/io/keras1_config.h"

#include <algorithm>
#include <map>

#include "keratin/base/error.h"

namespace keratin::io {
namespace {

using O = Json::Object;
using Words = std::map<std::string_view, std::string_view>;

const Words classes = {
    {"Convolution1D", "Conv1D"},
    {"Convolution2D", "Conv2D"},
    {"Convolution3D", "Conv3D"},
    {"Deconvolution2D", "Conv2DTranspose"},
    {"SeparableConvolution2D", "SeparableConv2D"},
};
const Words merges = {{"sum", "Add"},     {"mul", "Multiply"},
                      {"ave", "Average"}, {"concat", "Concatenate"},
                      {"max", "Maximum"}, {"dot", "Dot"}};
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
// How something is computed, or what only said what the weights say.
constexpr std::string_view dropped[] = {
    "consume_less",    "input_length",       "mode",
    "concat_axis",     "dot_axes",           "output_mask",
    "mode_type",       "arguments",          "output_shape",
    "weights",         "create_input_layer", "output_shape_type",
    "output_mask_type"};

std::string word(const Words& words, const std::string& old) {
  const auto found = words.find(old);
  return found == words.end() ? old : std::string(found->second);
}

// {"name": "WeightRegularizer", "l1": 0, "l2": 0.01}
Json regularizer(const Json& old) {
  if (!old.is_object() || old.contains("class_name")) return old;
  Json config = Json::object();
  for (const char* key : {"l1", "l2"})
    if (const Json* value = old.find(key)) config[key] = *value;
  return O{{"class_name", "L1L2"}, {"config", config}};
}

Json data_format(const Json& ordering) {
  return ordering == Json("th") ? "channels_first" : "channels_last";
}

// The sizes that one key each had: {"nb_row", "nb_col"}.
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

Json layer_config(const std::string& kind, const Json& config) {
  const bool embeds = kind == "Embedding";
  const Words& special = embeds ? embedding_keys : kind == "PReLU" ? prelu_keys : Words{};
  Json out = Json::object();
  for (const auto& [key, value] : config.as_object()) {
    if (std::find(std::begin(dropped), std::end(dropped), key) != std::end(dropped) ||
        is_size(key) || (key == "input_dim" && !embeds))
      continue;
    const std::string name = special.contains(key) ? std::string(special.at(key)) : word(keys, key);
    if (key == "layer")
      out["layer"] = layer(value);
    else if (key == "output_dim")
      out[embeds ? "output_dim" : "units"] = value;
    else if (key == "dim_ordering")
      out["data_format"] = data_format(value);
    else if (key == "forget_bias_init")
      out["unit_forget_bias"] = value == Json("one");
    else if (name.ends_with("_regularizer"))
      out[name] = regularizer(value);
    else if (name.ends_with("_initializer") && value.is_string())
      out[name] = word(initializers, value.as_string());
    else
      out[name] = value;
  }
  gather_sizes(config, {"nb_row", "nb_col"}, out);
  gather_sizes(config, {"kernel_dim1", "kernel_dim2", "kernel_dim3"}, out);
  return out;
}

Json merge(const Json& config) {
  const Json& mode = config.at("mode");
  require(mode.is_string() && merges.contains(mode.as_string()), "Merge: the mode ", mode,
          " of Keras 1 has no layer today");
  Json out = Json::object();
  if (const Json* name = config.find("name")) out["name"] = *name;
  if (mode == Json("concat")) out["axis"] = config.at("concat_axis");
  if (mode == Json("dot")) out["axes"] = config.at("dot_axes");
  return O{{"class_name", std::string(merges.at(mode.as_string()))}, {"config", out}};
}

// A layer, or a model inside one.
Json layer(const Json& entry) {
  const std::string kind = word(classes, entry.at("class_name").as_string());
  const Json& config = entry.at("config");
  Json out = entry;
  if (kind == "Merge") {
    out = merge(config);
  } else if (kind == "Sequential") {
    out["config"] = O{{"layers", layers(config)}};
  } else if (kind == "Model") {
    out["config"]["layers"] = layers(config.at("layers"));
  } else {
    out["class_name"] = kind;
    out["config"] = layer_config(kind, config);
  }
  for (const char* key : {"name", "inbound_nodes"})
    if (const Json* value = entry.find(key)) out[key] = *value;
  return out;
}

}  // namespace

Json from_keras1(const Json& envelope) { return layer(envelope); }

}  // namespace keratin::io
