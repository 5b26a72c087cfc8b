#include "keratin/io/keras_file.h"

#include <algorithm>
#include <ctime>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/files/folder.h"
#include "keratin/files/zip.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/saved_form.h"
#include "keratin/io/compile_config.h"
#include "keratin/io/keras2_config.h"
#include "keratin/io/keras2_layers.h"
#include "keratin/io/keras2_optimizer.h"
#include "keratin/io/user_names.h"
#include "keratin/io/weights_h5.h"
#include "keratin/optimizers/wrappers.h"
#include "keratin/train/callback.h"

namespace keratin::io {
namespace {

// The members of a .keras, which is a zip or a folder.
class Members {
 public:
  explicit Members(const std::filesystem::path& path) : name_(path.string()) {
    if (std::filesystem::is_directory(path))
      folder_ = path;
    else
      zip_.emplace(files::map_file(path));
  }
  explicit Members(const files::FileView& file) : name_(file.name()), zip_(file) {}
  const std::string& name() const { return name_; }
  bool has(const std::string& member) const {
    return zip_ ? zip_->find(member) != nullptr : std::filesystem::exists(folder_ / member);
  }
  files::FileView read(const std::string& member) const {
    require_member(member);
    return zip_ ? zip_->read(member) : files::map_in_folder(folder_, member);
  }
  bool has_assets() const {
    if (!zip_) return std::filesystem::exists(folder_ / "assets");
    return std::any_of(
        zip_->entries().begin(), zip_->entries().end(),
        [](const files::ZipEntry& entry) { return entry.name.starts_with("assets/"); });
  }
  // A file of text.
  std::string asset(const std::string& member) const {
    require(has(member), name_, ": there is no '", member, "' in it");
    const files::FileView view = read_text(member);
    return {reinterpret_cast<const char*>(view.bytes().data()), view.bytes().size()};
  }
  Json json(const std::string& member) const {
    require_member(member);
    const files::FileView view = read_text(member);
    try {
      return Json::parse({reinterpret_cast<const char*>(view.bytes().data()), view.bytes().size()});
    } catch (const UserError& error) {
      fail(view.name(), ": ", error.what());
    }
  }

 private:
  void require_member(const std::string& member) const {
    require(has(member), name_, ": expected a Keras model, but there is no '", member, "' in it",
            member == "model.weights.h5" && has("model.weights.npz")
                ? "; weights in model.weights.npz are pickled, and pickles are not opened"
                : "");
  }
  files::FileView read_text(const std::string& member) const {
    return zip_ ? zip_->read_text(member) : files::map_in_folder(folder_, member);
  }

  std::string name_;
  std::filesystem::path folder_;
  std::optional<files::ZipReader> zip_;
};

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm fields = {};
  gmtime_r(&seconds, &fields);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%d@%H:%M:%S", &fields);
  return buffer;
}

// The name of the Python function in a Lambda's config, such as "scale_by_two"; empty if there is
// none. Registered functions have their package in front: "my_package>scale_by_two".
std::string function_name(const Json& config) {
  const Json* function = config.find("function");
  if (function == nullptr) return {};
  if (function->is_string()) return function->as_string();
  const Json* inner = function->is_object() ? function->find("config") : nullptr;
  if (inner == nullptr || !inner->is_string()) return {};
  const std::string& name = inner->as_string();
  return name.substr(name.find('>') + 1);
}

// The custom object that is the function of a Lambda; null if there is none.
LambdaFunction custom_function(const Json& config) {
  LambdaFunction found;
  if (const Json* function = config.find("function"))
    detail::find_custom(*function, [&](const CustomObject& object) {
      if (object.function() != nullptr) found = lambda_function(*object.function());
      return found != nullptr;
    });
  return found;
}

// Makes a Lambda from its config, and binds the caller's function to it.
LayerPtr bound_lambda(const Json& config, const ConfigContext& context,
                      const LoadOptions& options) {
  const LayerPtr layer = LambdaLayer::from_config(config, context);
  auto found = options.lambdas.find(layer->name());
  if (found == options.lambdas.end()) found = options.lambdas.find(function_name(config));
  LambdaFunction function =
      found != options.lambdas.end() ? found->second : custom_function(config);
  require(
      function != nullptr, "Lambda layer '", layer->name(),
      "' holds a Python function, which is never run here. Say in C++ what it computes, such as "
      "load_model(path, {.lambdas = {{\"",
      layer->name(), "\", lambda_function([](Value x) { return x * 2.0; })}}})");
  static_cast<LambdaLayer&>(*layer).bind(std::move(function));
  return layer;
}

// Builds a model whose layers wait for their input, with the input shape that the file has.
void build_as_saved(Layer& layer, const Json& envelope) {
  const Json* build = envelope.find("build_config");
  const Json* shape = build != nullptr && build->is_object() ? build->find("input_shape") : nullptr;
  if (layer.built() || shape == nullptr || !shape->is_array()) return;
  layer.ensure_built({detail::shape_from_json(*shape)});
}

// The dialect of a .keras file; Keras 2.12 and later write such files too.
Dialect dialect_of(const Members& members) {
  if (!members.has("metadata.json")) return Dialect::keras3;
  const Json metadata = members.json("metadata.json");
  const Json* version = metadata.find("keras_version");
  return version != nullptr && version->is_string() ? dialect_of_version(version->as_string())
                                                    : Dialect::keras3;
}

StoredState numbered(const hdf5::Group& group) {
  StoredState stored;
  for (size_t i = 0; group.has_dataset(std::to_string(i)); ++i)
    stored.values.push_back(group.dataset(std::to_string(i)));
  return stored;
}

// The optimizer whose state Keras 2 writes: for a LossScaleOptimizer it is the inner one's, and the
// scale is not stored.
const OptimizerState& kept_by_keras2(const OptimizerState& optimizer) {
  const auto inner = optimizer.inner_optimizers();
  return inner.empty() ? optimizer : *inner[0].optimizer;
}

// Where a layer has its own files in a .keras.
std::string asset_folder(const SavedObject& object) {
  return object.path.empty() ? "assets/" : text("assets/", object.path, '/');
}

// The weights and the optimizer's state in a .keras.
class State {
 public:
  explicit State(const Members& members) : members_(members), weights_(file_) {
    file_.release_pages();  // the checksum read all of them
  }

  // True if a LossScaleOptimizer was put around the optimizer of the config.
  bool scales_loss() const {
    return weights_.count("optimizer/inner_optimizer/vars") > 0 ||
           weights_.count("optimizer/_optimizer/vars") > 0;  // Keras 2
  }

  void read(const Layer& model, OptimizerState* optimizer, Dialect written_by,
            const ReadOptions& options = {}) const {
    const std::string state = "optimizer/vars";
    // A model that was never trained has no optimizer state in its file.
    if (weights_.count(state) == 0) optimizer = nullptr;
    if (optimizer != nullptr) optimizer->build(model.trainable_weights());
    const bool old = written_by == Dialect::keras2;
    const std::vector<SavedObject> objects = objects_in(weights_, model, old ? nullptr : optimizer);
    read_weights(weights_, objects, members_.name(), options);
    if (old && optimizer != nullptr)
      read_keras2_state(numbered(hdf5::File(file_).root().group(state)), kept_by_keras2(*optimizer),
                        members_.name());
  }

  // Warns of what members of a class of the user's have, if that is opened as a model of Keras's:
  // neither the model nor a file that is saved from it has their weights.
  void warn_of_members(const Layer& model) const {
    const hdf5::Group root = hdf5::File(file_).root();
    for (const SavedObject& object : objects_in(weights_, model, nullptr)) {
      const auto& names = object.layer->saved_class();
      const bool is_model = dynamic_cast<const ModelLayer*>(object.layer.get()) != nullptr;
      if (!names || !is_model || (!object.path.empty() && !root.has_group(object.path))) continue;
      const hdf5::Group group = object.path.empty() ? root : root.group(object.path);
      for (const std::string& member : group.names()) {
        const std::string path = object.path.empty() ? member : object.path + '/' + member;
        if (is_of_keras(member) || weights_.count(path + "/vars") == 0) continue;
        warn(text(members_.name(), ": the file has weights of '", member, "', a member of class '",
                  names->class_name, "' of model '", object.name,
                  "'. The model does not have it, and a file saved from it lacks its weights."));
      }
    }
  }

  // What layers keep beside their weights, but for their files.
  void read_tensors(const Layer& model) const {
    read_own_tensors(weights_, objects_in(weights_, model, nullptr), members_.name());
  }

  // Vocabularies and what else layers keep beside their weights. As in Keras, a file without assets
  // leaves layers as they are.
  void read_assets(const Layer& model) const {
    const bool has_assets = members_.has_assets();
    for (const SavedObject& object : objects_in(weights_, model, nullptr)) {
      LayerAssets assets = object.layer->expected_assets();
      for (auto& [name, tensor] : assets.tensors) {
        require(weights_.has(object.group(), name), members_.name(), ": there is no '", name,
                "' in '", object.group(), "' for layer '", object.name, "'");
        tensor = weights_.read(object.group(), name);
      }
      const std::string folder = asset_folder(object);
      if (!has_assets) assets.files.clear();
      for (auto& [name, contents] : assets.files) contents = members_.asset(folder + name);
      if (assets.files.empty() && assets.tensors.empty()) continue;
      // As variables are, assets are given to the layers of the model.
      const_cast<Layer&>(*object.layer).load_assets(assets);
    }
  }

 private:
  // True for the members that Keras's models have.
  static bool is_of_keras(const std::string& member) {
    return member == "layers" || member == "vars" || member == "optimizer" ||
           member == "_layer_checkpoint_dependencies";
  }

  const Members& members_;
  files::FileView file_ = members_.read("model.weights.h5");
  H5Weights weights_;
};

}  // namespace

Dialect dialect_of_version(const std::string& version) {
  return version.starts_with('1') || version.starts_with('2') ? Dialect::keras2 : Dialect::keras3;
}

LayerPtr model_from(const Json& config, const LoadOptions& options, Dialect dialect) {
  CustomObjects objects = options.custom_objects;
  objects.try_emplace("Lambda", [&](const Json& json, const ConfigContext& context) {
    return bound_lambda(json, context, options);
  });
  LayerPtr layer = layer_from_json(config, objects, dialect);
  build_as_saved(*layer, config);
  return layer;
}

namespace {

SavedModel read_members(const Members& members, const LoadOptions& options) {
  Json config = members.json("config.json");
  const Dialect written_by = dialect_of(members);
  if (written_by == Dialect::keras2) config = from_keras2(config);
  SavedModel saved;
  saved.dialect = options.dialect.value_or(written_by);
  saved.layer = model_from(config, options, saved.dialect);
  const State state(members);
  const Json* compiled = config.find("compile_config");
  OptimizerState* optimizer = nullptr;
  if (options.compile && compiled != nullptr && compiled->is_object() &&
      !compiled->as_object().empty()) {
    const CustomObjectScope scope(options.custom_objects);
    saved.training = training_options(*compiled);
    if (state.scales_loss())
      saved.training->optimizer = detail::with_scaled_loss(saved.training->optimizer);
    optimizer = &*saved.training->optimizer;
  }
  state.read(*saved.layer, optimizer, written_by);
  state.read_assets(*saved.layer);
  state.warn_of_members(*saved.layer);
  return saved;
}

}  // namespace

SavedModel read_keras(const std::filesystem::path& path, const LoadOptions& options) {
  return read_members(Members(path), options);
}

SavedModel read_keras(const files::FileView& file, const LoadOptions& options) {
  return read_members(Members(file), options);
}

void read_keras_weights(const std::filesystem::path& path, const Layer& model,
                        OptimizerState* optimizer, const ReadOptions& options) {
  const Members members(path);
  const State state(members);
  state.read(model, optimizer, dialect_of(members), options);
  state.read_tensors(model);
}

void write_keras(const std::filesystem::path& path, const Layer& model, const Trainer* trainer) {
  files::AtomicFile file(path);
  write_keras(file, model, trainer);
}

void write_keras(files::OutputFile& file, const Layer& given, const Trainer* trainer) {
  const Layer& model = detail::saved_model(given);
  Json config = config_to_save(model);
  warn_of_keras2_layers(config);
  if (trainer != nullptr) config["compile_config"] = compile_config(trainer->options());
  const OptimizerState* optimizer =
      trainer != nullptr && trainer->optimizer().built() ? &trainer->optimizer() : nullptr;
  hdf5::Writer weights;
  const std::vector<SavedObject> objects = saved_objects(model, optimizer);
  write_weights(weights.root(), objects);

  files::ZipWriter zip(file, 64);
  zip.add("metadata.json",
          Json(Json::Object{{"keras_version", keras_version}, {"date_saved", now()}}).dump());
  zip.add("config.json", config.dump());
  weights.write(zip.begin("model.weights.h5"));
  for (const SavedObject& object : objects) {
    if (object.layer == nullptr) continue;
    for (const auto& [name, contents] : object.layer->assets().files)
      zip.add(asset_folder(object) + name, contents);
  }
  zip.commit();
}

}  // namespace keratin::io
