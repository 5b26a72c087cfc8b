#include "keratin/io/legacy_h5.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/files/hdf5.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/saved_form.h"
#include "keratin/io/compile_config.h"
#include "keratin/io/keras2_add_loss.h"
#include "keratin/io/keras2_config.h"
#include "keratin/io/keras2_losses.h"
#include "keratin/io/keras2_optimizer.h"
#include "keratin/io/legacy_convert.h"
#include "keratin/io/old_version.h"

namespace keratin::io {
namespace {

// A layer in a file: its weights in the file's order.
struct StoredLayer {
  std::string name;
  std::vector<hdf5::Dataset> weights = {};
  std::vector<std::string> names = {};
};

// A layer of the model.
struct OwnLayer {
  LayerPtr layer;
  std::string name;
  std::vector<Variable> weights;
};

std::vector<OwnLayer> layers_with_weights(const Layer& model) {
  std::vector<OwnLayer> out;
  for (const Layer::Sublayer& sub : model.sublayers())
    if (auto weights = legacy_order(*sub.layer); !weights.empty())
      out.push_back({sub.layer, sub.layer->name(), std::move(weights)});
  return out;
}

// All layers, with those of nested models, as Keras 1 wrote for a Sequential that begins with
// several models.
std::vector<OwnLayer> layers_of_all_models(const Layer& model) {
  std::vector<OwnLayer> out;
  for (OwnLayer& own : layers_with_weights(model)) {
    if (dynamic_cast<const ModelLayer*>(own.layer.get()) == nullptr) {
      out.push_back(std::move(own));
      continue;
    }
    for (OwnLayer& inner : layers_of_all_models(*own.layer)) out.push_back(std::move(inner));
  }
  return out;
}

// Reads a list of names. An empty list is stored as an array of numbers.
std::vector<std::string> names_in(const hdf5::Object& object, const std::string& attribute) {
  if (object.has_attribute(attribute) && !object.attribute(attribute).is_string()) {
    require(object.attribute(attribute).tensor().count() == 0, object.path(), ": '", attribute,
            "': expected a list of names, got numbers");
    return {};
  }
  return object.strings(attribute);
}

std::vector<StoredLayer> stored_layers(const hdf5::Group& weights) {
  std::vector<StoredLayer> out;
  for (const std::string& name : names_in(weights, "layer_names")) {
    const hdf5::Group group = weights.group(name);
    StoredLayer layer{.name = name};
    layer.names = names_in(group, "weight_names");
    for (const std::string& weight : layer.names) layer.weights.push_back(group.dataset(weight));
    if (!layer.weights.empty()) out.push_back(std::move(layer));
  }
  return out;
}

bool fits(const StoredLayer& stored, const OwnLayer& own) {
  if (stored.weights.size() != own.weights.size()) return false;
  for (size_t i = 0; i < own.weights.size(); ++i)
    if (Shape(stored.weights[i].dims()) != own.weights[i].shape()) return false;
  return true;
}

// Refuses weights that claim to be too large, before they are read. Older layouts have as many
// numbers as today's, or twice as many if they double the biases.
void check_size(const StoredLayer& stored, const OwnLayer& own) {
  double claimed = 0, wanted = 0;
  for (const hdf5::Dataset& weight : stored.weights) {
    double count = 1;
    for (const int64_t size : weight.dims()) count *= static_cast<double>(size);
    claimed += count;
  }
  for (const Variable& weight : own.weights) wanted += static_cast<double>(weight.shape().count());
  require(claimed <= 2 * wanted, "Size mismatch for layer '", own.name, "': the model has ", wanted,
          " numbers there, the file's layer '", stored.name, "' claims ", claimed);
}

// A layer's weights from the file, converted to today's layout if they do not fit.
std::vector<Tensor> values_of(const StoredLayer& stored, const OwnLayer& own,
                              const Origin& origin) {
  const bool keeps_layout = !origin.keras1 && !origin.theano && fits(stored, own);
  if (!keeps_layout) check_size(stored, own);
  std::vector<Tensor> values;
  for (const hdf5::Dataset& weight : stored.weights) values.push_back(weight.read());
  if (keeps_layout) return values;
  try {
    return converted_weights(*own.layer, std::move(values), origin);
  } catch (const UserError& error) {
    fail("Layer '", own.name, "': ", error.what());
  }
}

// The layer without the weights of activation layers, if the file lacks them: Keras builds an
// activation when it first runs, so a model that was saved before that has no weights of it.
OwnLayer as_stored(const OwnLayer& own, const StoredLayer& stored) {
  std::vector<Variable> unbuilt;
  for (const Layer::Sublayer& sub : own.layer->sublayers())
    if (sub.attribute.ends_with("activation"))
      for (const Variable& weight : sub.layer->weights()) unbuilt.push_back(weight);
  if (unbuilt.empty() || stored.weights.size() + unbuilt.size() != own.weights.size()) return own;
  OwnLayer less{own.layer, own.name, {}};
  for (const Variable& weight : own.weights)
    if (std::find(unbuilt.begin(), unbuilt.end(), weight) == unbuilt.end())
      less.weights.push_back(weight);
  return less;
}

std::vector<Assignment> matched(const StoredLayer& stored, const OwnLayer& whole,
                                const Origin& origin) {
  const OwnLayer own = as_stored(whole, stored);
  const std::vector<Tensor> values = values_of(stored, own, origin);
  require(values.size() == own.weights.size(), "Weight count mismatch for layer '", own.name,
          "': the model has ", own.weights.size(), " weights there, the file's layer '",
          stored.name, "' has ", values.size());
  std::vector<Assignment> out;
  for (size_t i = 0; i < own.weights.size(); ++i) {
    require(values[i].shape() == own.weights[i].shape(), "Shape mismatch in layer '", own.name,
            "' for weight '", own.weights[i].name(), "': expected ", own.weights[i].shape(),
            ", got ", values[i].shape(), " from layer '", stored.name, "' of the file");
    check_dtype(own.weights[i], values[i].dtype());
    out.push_back({own.weights[i], values[i]});
  }
  return out;
}

std::vector<Assignment> in_order(const std::vector<StoredLayer>& stored,
                                 const std::vector<OwnLayer>& own, const Origin& origin) {
  require(stored.size() == own.size(),
          "Layer count mismatch when loading weights from file. Model expected ", own.size(),
          " layers, found ", stored.size(), " saved layers.");
  std::vector<Assignment> out;
  for (size_t i = 0; i < own.size(); ++i)
    for (Assignment& one : matched(stored[i], own[i], origin)) out.push_back(std::move(one));
  return out;
}

std::vector<Assignment> by_name(const std::vector<StoredLayer>& stored,
                                const std::vector<OwnLayer>& own, const Origin& origin,
                                bool skip_mismatch) {
  std::vector<Assignment> out;
  for (const StoredLayer& layer : stored)
    for (const OwnLayer& mine : own) {
      if (mine.name != layer.name && mine.name != portable_name(layer.name)) continue;
      try {
        for (Assignment& one : matched(layer, mine, origin)) out.push_back(std::move(one));
      } catch (const UserError& error) {
        if (!skip_mismatch) throw;
        warn(text("Skipping loading weights for layer '", mine.name, "': ", error.what()));
      }
    }
  return out;
}

// The group with the weights: the root, or "model_weights" in the file of a whole model.
hdf5::Group weights_in(const hdf5::Group& root, const std::string& where) {
  const bool whole = !root.has_attribute("layer_names") && !root.has_attribute("layer_names0");
  require(!whole || root.has_group("model_weights"), where,
          ": expected weights that Keras saved by layer, but there are no 'layer_names'");
  return whole ? root.group("model_weights") : root;
}

// True if weights have names of Theano, such as "conv_W"; TensorFlow's are "conv_W:0".
bool has_names_of_theano(const hdf5::Group& weights) {
  for (const std::string& layer : names_in(weights, "layer_names"))
    for (const std::string& name : names_in(weights.group(layer), "weight_names"))
      if (name.ends_with("_W")) return true;
  return false;
}

// Finds out who wrote the file. Keras 1 does not write its backend, and only its last versions
// write their number.
Origin origin_of(const hdf5::Group& weights) {
  const auto value_of = [&](const char* attribute, const std::string& fallback) {
    return weights.has_attribute(attribute) ? weights.attribute(attribute).string() : fallback;
  };
  const bool keras1 = value_of("keras_version", "1").starts_with("1");
  const bool theano = weights.has_attribute("backend") ? value_of("backend", "") == "theano"
                                                       : keras1 && has_names_of_theano(weights);
  return {.keras1 = keras1, .theano = theano};
}

// The model's layers, with or without those of nested models, whichever the file has.
std::vector<OwnLayer> layers_like(const std::vector<StoredLayer>& stored, const Layer& model) {
  auto own = layers_with_weights(model);
  if (stored.size() == own.size()) return own;
  auto all = layers_of_all_models(model);
  return stored.size() == all.size() ? all : own;
}

void read_layers(const hdf5::Group& weights, const Layer& model, const std::string& where,
                 const LegacyOptions& options) {
  std::vector<Assignment> all;
  try {
    const auto stored = stored_layers(weights);
    const Origin origin = origin_of(weights);
    all = options.by_name
              ? by_name(stored, layers_with_weights(model), origin, options.skip_mismatch)
              : in_order(stored, layers_like(stored, model), origin);
  } catch (const UserError& error) {
    fail(where, ": ", error.what());
  }
  assign(all);
}

Json json_of(const hdf5::Group& root, const std::string& attribute, const std::string& where) {
  try {
    return unpacked_json(root.attribute(attribute).string());
  } catch (const UserError& error) {
    fail(where, ": '", attribute, "': ", error.what());
  }
}

// Legacy files have the optimizer under another key.
CompileOptions training_of(const Json& config, const CustomObjects& custom) {
  const CustomObjectScope scope(custom);
  Json renamed = config;
  if (const Json* optimizer = config.find("optimizer_config")) renamed["optimizer"] = *optimizer;
  return training_options(renamed);
}

// Sets how slots of an older layout are converted.
void set_layout(StoredState& state, const hdf5::Group& weights, const Layer& model) {
  const Origin origin = origin_of(weights);
  const std::string version =
      weights.has_attribute("keras_version") ? weights.attribute("keras_version").string() : "1";
  const bool sorted = is_before(version, 2, 0, 6);
  if (!origin.keras1 && !origin.theano && !sorted) return;
  const auto stored = stored_layers(weights);
  const auto own = layers_like(stored, model);
  std::vector<LayerInFile> layers;
  for (size_t i = 0; i < std::min(own.size(), stored.size()); ++i)
    layers.push_back({own[i].layer, stored[i].names});
  state.per_kind = stored_slots(layers);
  state.convert = [layers, sorted, origin](const std::vector<Tensor>& slots) {
    return converted_slots(layers, sorted, slots, origin);
  };
}

// Reads the optimizer's state, if the file has state of the same optimizer.
void read_optimizer(const hdf5::Group& root, const Layer& model, OptimizerState& optimizer,
                    Dialect written_by, const std::string& where) {
  if (!root.has_group("optimizer_weights")) return;
  const hdf5::Group group = root.group("optimizer_weights");
  optimizer.build(model.trainable_weights());
  StoredState stored{.values = {}, .names = names_in(group, "weight_names")};
  for (const std::string& name : stored.names) stored.values.push_back(group.dataset(name));
  if (written_by == Dialect::keras2) set_layout(stored, weights_in(root, where), model);
  if (written_by == Dialect::keras2) return read_keras2_state(stored, optimizer, where);
  const std::vector<Variable> variables = optimizer.variables();
  std::vector<Assignment> all;
  for (size_t i = 0; i < stored.values.size() && stored.values.size() == variables.size(); ++i)
    if (Shape(stored.values[i].dims()) == variables[i].shape())
      all.push_back({variables[i], stored.values[i].read()});
  if (all.size() != variables.size()) return warn_of_other_state(optimizer, where);
  assign(all);
}

}  // namespace

std::vector<Variable> legacy_order(const Layer& layer) {
  std::vector<Variable> all = layer.trainable_weights();
  for (const Variable& v : layer.non_trainable_weights()) all.push_back(v);
  return all;
}

void read_legacy_weights(const std::filesystem::path& path, const Layer& model,
                         const LegacyOptions& options) {
  const hdf5::File file(path);
  read_layers(weights_in(file.root(), path.string()), detail::saved_model(model), path.string(),
              options);
}

SavedModel read_legacy(const std::filesystem::path& path, const LoadOptions& options) {
  return read_legacy(files::map_file(path), options);
}

SavedModel read_legacy(const files::FileView& file, const LoadOptions& options) {
  const std::string& where = file.name();
  const hdf5::Group root = hdf5::File(file).root();
  require(
      root.has_attribute("model_config"), where,
      ": No model config found in the file. If it has weights alone, read them into a model with "
      "`load_weights`.");
  SavedModel saved;
  // Early versions of Keras 1 do not write their number.
  const std::string version =
      root.has_attribute("keras_version") ? root.attribute("keras_version").string() : "1";
  const Dialect written_by = dialect_of_version(version);
  saved.dialect = options.dialect.value_or(written_by);
  const Json stored = json_of(root, "model_config", where);
  Json config = stored;
  if (written_by == Dialect::keras2) {
    warn_of_other_sampling(config, version);
    config = from_old(config, version.starts_with('1'));
  }
  saved.layer = model_from(config, options, saved.dialect);
  read_layers(weights_in(root, where), *saved.layer, where, {});
  if (options.compile && root.has_attribute("training_config")) {
    const CustomObjectScope scope(options.custom_objects);
    Json training = json_of(root, "training_config", where);
    if (written_by == Dialect::keras2)
      training = with_cosine_similarity(from_keras2(for_losses_inside(training, stored)), version,
                                        *saved.layer);
    saved.training = training_of(training, options.custom_objects);
    read_optimizer(root, *saved.layer, *saved.training->optimizer, written_by, where);
  }
  return saved;
}

}  // namespace keratin::io
