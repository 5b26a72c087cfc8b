// Writes Keras 3's legacy layout: the model as JSON in attributes, and weights by layer and path.
#include <set>

#include "keratin/base/text.h"
#include "keratin/files/hdf5_writer.h"
#include "keratin/graph/named.h"
#include "keratin/graph/saved_form.h"
#include "keratin/io/compile_config.h"
#include "keratin/io/keras2_layers.h"
#include "keratin/io/legacy_h5.h"
#include "keratin/io/user_names.h"

namespace keratin::io {
namespace {

// The backend name in the file: readers take it as the layout of the weights.
constexpr const char* backend = "tensorflow";

// A unique name in the file: variables of nested models may have the same path.
std::string unused(std::set<std::string>& used, const std::string& path) {
  std::string name = path;
  for (size_t i = 1; !used.insert(name).second; ++i) name = text(path, '_', i);
  return name;
}

void write_variables(hdf5::NewGroup& group, const std::vector<Variable>& variables) {
  std::set<std::string> used;
  std::vector<std::string> names;
  for (const Variable& variable : variables) {
    names.push_back(unused(used, variable.path()));
    const Tensor& value = variable.value();
    // This layout has no bfloat16; f32 represents all its values.
    group.dataset(names.back(), value.dtype() == DType::bf16 ? value.cast(DType::f32) : value);
  }
  group.strings("weight_names", names);
}

void write_layers(hdf5::NewGroup& group, const Layer& model) {
  std::vector<std::string> names;
  for (const Layer::Sublayer& sub : model.sublayers()) {
    names.push_back(sub.layer->name());
    write_variables(group.group(names.back()), legacy_order(*sub.layer));
  }
  group.strings("layer_names", names);
  group.attribute("backend", backend);
  group.attribute("keras_version", keras_version);
  write_variables(group.group("top_level_model_weights"), model.own_weights());
}

// A class of a package has its registered name, as Keras writes it here.
Json class_and_config(const Json& envelope) {
  const Json& name = envelope.at("registered_name");
  const bool of_package = name.is_string() && name.as_string().find('>') != std::string::npos;
  return Json::Object{{"class_name", of_package ? name : envelope.at("class_name")},
                      {"config", envelope.at("config")}};
}

// Losses by their full names: Keras cannot read "mse" from an .h5.
Json spelled_out(const Json& losses) {
  if (losses.is_string()) {
    const std::string known = snake_case(Loss(losses.as_string()).class_name());
    return known.empty() ? losses : Json(known);
  }
  Json out = losses;
  if (losses.is_array()) {
    out = Json::array();
    for (const Json& loss : losses.as_array()) out.push_back(spelled_out(loss));
  } else if (losses.is_object() && !losses.contains("class_name")) {
    for (const auto& [output, loss] : losses.as_object()) out[output] = spelled_out(loss);
  }
  return out;
}

// The training config, with the optimizer last and under another key.
Json training_config(const CompileOptions& options) {
  Json config = Json::object();
  const Json written = compile_config(options);
  for (const auto& [key, value] : written.as_object())
    if (key != "optimizer") config[key] = key == "loss" ? spelled_out(value) : value;
  config["optimizer_config"] = class_and_config(written.at("optimizer"));
  return config;
}

}  // namespace

void write_legacy(const std::filesystem::path& path, const Layer& model, const Trainer* trainer) {
  files::AtomicFile file(path);
  write_legacy(file, model, trainer);
}

void write_legacy(files::OutputFile& file, const Layer& given, const Trainer* trainer) {
  const Layer& model = detail::saved_model(given);
  hdf5::Writer contents;
  hdf5::NewGroup& root = contents.root();
  root.attribute("keras_version", keras_version);
  root.attribute("backend", backend);
  // Keras leaves out the modules of layers, and then cannot read operations between layers. With
  // modules it can, so they are written.
  const Json config = class_and_config(config_to_save(model));
  warn_of_keras2_layers(config);
  root.attribute("model_config", config.dump());
  write_layers(root.group("model_weights"), model);
  if (trainer != nullptr) {
    root.attribute("training_config", training_config(trainer->options()).dump());
    if (trainer->optimizer().built())
      write_variables(root.group("optimizer_weights"), trainer->optimizer().variables());
  }
  contents.write(file);
  file.commit();
}

}  // namespace keratin::io
