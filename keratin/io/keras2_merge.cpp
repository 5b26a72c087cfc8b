#include "keratin/io/keras2_merge.h"

#include <map>

#include "keratin/base/text.h"

namespace keratin::io {
namespace {

using O = Json::Object;

const std::map<std::string_view, std::string_view> modes = {
    {"sum", "Add"},     {"mul", "Multiply"}, {"ave", "Average"}, {"concat", "Concatenate"},
    {"max", "Maximum"}, {"dot", "Dot"}};

Json entry(const std::string& kind, Json config, const Json& calls) {
  const Json name = config.at("name");
  return O{{"class_name", kind},
           {"config", std::move(config)},
           {"name", name},
           {"inbound_nodes", calls}};
}

Json call_of(const Json::Array& names) {
  Json call = Json::array();
  for (const Json& name : names) call.push_back(Json::Array{name, 0, 0, Json::object()});
  return Json::Array{call};
}

Json functional(const Json& name, const Json& layers, const Json::Array& inputs,
                const Json& output) {
  Json ends = Json::array();
  for (const Json& input : inputs) ends.push_back(Json::Array{input, 0, 0});
  return O{{"name", name},
           {"layers", layers},
           {"input_layers", ends},
           {"output_layers", Json::Array{Json::Array{output, 0, 0}}}};
}

Json input_entry(const std::string& name, const Json& shape, const Json& dtype) {
  return entry("InputLayer",
               O{{"name", name}, {"batch_input_shape", shape}, {"dtype", dtype}, {"sparse", false}},
               Json::array());
}

// A model that computes the cosine of the angle between two vectors, [batch, 1, 1].
Json cosine_model(const std::string& name, const Json& axes) {
  Json layers = Json::array();
  Json::Array inputs;
  for (const char* side : {"_left", "_right"}) {
    inputs.emplace_back(name + side);
    layers.push_back(input_entry(name + side, Json::Array{Json(), Json()}, "float32"));
  }
  layers.push_back(entry("Dot",
                         O{{"name", name + "_products"}, {"axes", axes}, {"normalize", true}},
                         call_of(inputs)));
  layers.push_back(entry("Reshape",
                         O{{"name", name + "_matrix"}, {"target_shape", Json::Array{1, 1}}},
                         call_of({name + "_products"})));
  return functional(name, layers, inputs, name + "_matrix");
}

const Json& layers_of(const Json& sequential) {
  const Json& config = sequential.at("config");
  return config.is_array() ? config : config.at("layers");
}

std::string name_of(const Json& envelope, const std::string& fallback) {
  const Json* config = envelope.find("config");
  for (const Json* json : {&envelope, config})
    if (json != nullptr && json->is_object())
      if (const Json* name = json->find("name"); name != nullptr && name->is_string())
        return name->as_string();
  return fallback;
}

struct End {
  Json shape, dtype;
};

// The input shape of a branch.
End input_of(const Json& envelope) {
  const Json& config = envelope.at("config");
  const bool model = config.is_array() || config.contains("layers");
  require(!model || layers_of(envelope).size() > 0, "Merge: a branch without layers");
  const Json& first = model ? layers_of(envelope)[0].at("config") : config;
  const Json* shape = first.find("batch_input_shape");
  require(shape != nullptr, "Merge: expected each branch to have an input shape, got ",
          envelope.at("class_name"), " '", name_of(envelope, ""), "' without one");
  const Json* dtype = first.find("dtype");
  return {*shape, dtype == nullptr ? Json("float32") : *dtype};
}

}  // namespace

Json layer_for_merge(const Json& envelope) {
  const Json& config = envelope.at("config");
  const Json& mode = config.at("mode");
  const std::string name = name_of(envelope, "merge");
  Json out = envelope;
  const Json* type = config.find("mode_type");
  if (!mode.is_string() || (type != nullptr && *type != Json("raw"))) {
    out["class_name"] = "Lambda";
    out["config"] = O{{"name", name}, {"function", mode}};
    if (const Json* given = config.find("arguments")) out["config"]["arguments"] = *given;
    return out;
  }
  if (mode == Json("cos")) {
    out["class_name"] = "Model";
    out["config"] = cosine_model(name, config.at("dot_axes"));
    return out;
  }
  const auto found = modes.find(mode.as_string());
  require(found != modes.end(), "Merge '", name, "': expected one of the modes sum, mul, concat, ",
          "ave, cos, dot and max, got ", mode);
  out["class_name"] = std::string(found->second);
  out["config"] = O{{"name", name}};
  if (mode == Json("concat")) out["config"]["axis"] = config.at("concat_axis");
  if (mode == Json("dot")) out["config"]["axes"] = config.at("dot_axes");
  return out;
}

bool begins_with_merge(const Json& sequential) {
  const Json& config = sequential.at("config");
  const Json* layers = config.is_array() ? &config : config.find("layers");
  if (layers == nullptr || !layers->is_array() || layers->size() == 0) return false;
  const Json* kind = (*layers)[0].find("class_name");
  return kind != nullptr && *kind == Json("Merge");
}

Json model_for_merge(const Json& sequential) {
  const Json& all = layers_of(sequential);
  const std::string name = name_of(sequential, "sequential");
  Json layers = Json::array();
  Json::Array inputs, joined;
  const Json& branches = all[0].at("config").at("layers");
  for (size_t i = 0; i < branches.size(); ++i) {
    Json branch = branches[i];
    const std::string own = name_of(branch, text(name, "_branch_", i + 1));
    Json::Array takes;
    if (branch.at("class_name") == Json("Sequential") && begins_with_merge(branch)) {
      branch["name"] = own;
      branch = model_for_merge(branch);
      for (const Json& end : branch.at("config").at("input_layers").as_array()) {
        const std::string input = text(own, '_', end[0].as_string());
        for (const Json& inner : branch.at("config").at("layers").as_array())
          if (inner.at("name") == end[0])
            layers.push_back(input_entry(input, inner.at("config").at("batch_input_shape"),
                                         inner.at("config").at("dtype")));
        takes.emplace_back(input);
      }
    } else {
      const End end = input_of(branch);
      layers.push_back(input_entry(own + "_input", end.shape, end.dtype));
      takes.emplace_back(own + "_input");
    }
    inputs.insert(inputs.end(), takes.begin(), takes.end());
    if (branch.at("config").is_array()) branch["config"] = O{{"layers", branch.at("config")}};
    branch["config"]["name"] = own;
    layers.push_back(
        entry(branch.at("class_name").as_string(), branch.at("config"), call_of(takes)));
    joined.emplace_back(own);
  }
  std::string last;
  for (size_t i = 0; i < all.size(); ++i) {
    Json layer = all[i];
    const std::string own = name_of(layer, text(name, '_', i + 1));
    if (layer.at("config").is_array()) layer["config"] = O{{"layers", layer.at("config")}};
    layer["config"]["name"] = own;
    layers.push_back(entry(layer.at("class_name").as_string(), layer.at("config"),
                           call_of(i == 0 ? joined : Json::Array{last})));
    last = own;
  }
  return O{{"class_name", "Model"}, {"config", functional(name, layers, inputs, last)}};
}

}  // namespace keratin::io
