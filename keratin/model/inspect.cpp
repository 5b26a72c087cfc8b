#include "keratin/model/inspect.h"

#include <set>

#include "keratin/base/text.h"
#include "keratin/data/npy.h"
#include "keratin/files/folder.h"
#include "keratin/files/hdf5.h"
#include "keratin/files/safetensors.h"
#include "keratin/files/zip.h"
#include "keratin/io/keras2_config.h"

namespace keratin {
namespace {

std::string_view text_of(const files::FileView& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// Parses JSON, which may be encoded as a JSON string.
Json json_of(std::string_view text, const std::string& where) {
  try {
    return io::unpacked_json(text);
  } catch (const UserError& error) {
    fail(where, ": ", error.what());
  }
}

std::string string_at(const Json& json, std::string_view key) {
  const Json* found = json.is_object() ? json.find(key) : nullptr;
  return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

// Takes a model's config; Keras 3 has the compile config in it.
void set_config(FileContents& out, Json config) {
  if (const Json* compiled = config.is_object() ? config.find("compile_config") : nullptr)
    out.training = *compiled;
  if (out.keras_version.empty()) out.keras_version = string_at(config, "keras_version");
  if (out.backend.empty()) out.backend = string_at(config, "backend");
  out.config = std::move(config);
}

void set_metadata(FileContents& out, const Json& metadata) {
  out.keras_version = string_at(metadata, "keras_version");
  out.date_saved = string_at(metadata, "date_saved");
}

bool is_optimizer_path(std::string_view path) {
  return path.starts_with("optimizer/") || path.starts_with("optimizer_weights/");
}

// The layer or optimizer of a group: the name that Keras wrote, or the layer's group in a legacy
// file.
std::string owner_of(const hdf5::Group& group, const std::string& path) {
  if (group.has_attribute("name")) {
    const hdf5::Value name = group.attribute("name");
    if (name.is_string() && name.strings().size() == 1) return name.string();
  }
  constexpr std::string_view legacy = "model_weights/";
  if (!path.starts_with(legacy)) return {};
  return path.substr(legacy.size(), path.find('/', legacy.size()) - legacy.size());
}

// Adds all datasets. The reader has checked that groups form a tree, and limited their number.
void add_datasets(FileContents& out, const hdf5::Group& root) {
  std::vector<std::string> pending{""};
  while (!pending.empty()) {
    const std::string path = std::move(pending.back());
    pending.pop_back();
    const hdf5::Group group = path.empty() ? root : root.group(path);
    const std::string owner = owner_of(group, path);
    std::vector<std::string> below;
    for (const std::string& name : group.names()) {
      const std::string child = path.empty() ? name : text(path, '/', name);
      if (root.has_group(child)) {
        below.push_back(child);
        continue;
      }
      const hdf5::Dataset dataset = root.dataset(child);
      if (dataset.is_string())
        out.others.push_back(child);
      else
        out.tensors.push_back({child, owner, dataset.dtype(), dataset.dims(),
                               is_optimizer_path(child), [dataset] { return dataset.read(); }});
    }
    pending.insert(pending.end(), below.rbegin(), below.rend());
  }
}

std::string string_attribute(const hdf5::Group& root, std::string_view name) {
  if (!root.has_attribute(name)) return {};
  const hdf5::Value value = root.attribute(name);
  return value.is_string() && value.strings().size() == 1 ? value.string() : std::string();
}

FileContents hdf5_contents(const files::FileView& file) {
  const hdf5::Group root = hdf5::File(file).root();
  FileContents out;
  const bool by_layer = root.has_attribute("layer_names") || root.has_attribute("layer_names0");
  const std::string config = string_attribute(root, "model_config");
  out.format = !config.empty() ? "legacy HDF5 model"
               : by_layer      ? "legacy HDF5 weights"
                               : "HDF5 weights";
  out.keras_version = string_attribute(root, "keras_version");
  out.backend = string_attribute(root, "backend");
  if (!config.empty()) set_config(out, json_of(config, file.name() + ": model_config"));
  if (const std::string training = string_attribute(root, "training_config"); !training.empty())
    out.training = json_of(training, file.name() + ": training_config");
  add_datasets(out, root);
  return out;
}

void take_weights(FileContents& out, const files::FileView& file) {
  FileContents weights = hdf5_contents(file);
  for (StoredTensor& tensor : weights.tensors) out.tensors.push_back(std::move(tensor));
  for (std::string& other : weights.others) out.others.push_back(std::move(other));
}

FileContents keras_zip(const files::ZipReader& zip) {
  FileContents out;
  out.format = "Keras model";
  for (const files::ZipEntry& entry : zip.entries()) {
    const auto json = [&] {
      const files::FileView member = zip.read_text(entry);
      return json_of(text_of(member), member.name());
    };
    if (entry.name == "config.json")
      set_config(out, json());
    else if (entry.name == "metadata.json")
      set_metadata(out, json());
    else if (entry.name == "model.weights.h5")
      take_weights(out, zip.read(entry));
    else
      out.others.push_back(entry.name);
  }
  return out;
}

FileContents keras_folder(const std::filesystem::path& path) {
  FileContents out;
  out.format = "Keras model folder";
  require(std::filesystem::exists(path / "config.json"), path.string(),
          ": expected a Keras model, but there is no 'config.json' in the folder");
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    const auto json = [&] {
      const files::FileView member = files::map_in_folder(path, name);
      return json_of(text_of(member), member.name());
    };
    if (name == "config.json")
      set_config(out, json());
    else if (name == "metadata.json")
      set_metadata(out, json());
    else if (name == "model.weights.h5")
      take_weights(out, files::map_in_folder(path, name));
    else
      out.others.push_back(name);
  }
  return out;
}

StoredTensor held(const std::string& name, const Tensor& tensor) {
  return {name, "", tensor.dtype(), tensor.shape().dims(), is_optimizer_path(name), [tensor] {
            return tensor;
          }};
}

FileContents zip_contents(const files::FileView& file, const std::filesystem::path& path) {
  const files::ZipReader zip(file);
  if (zip.find("config.json") != nullptr) return keras_zip(zip);
  bool arrays = !zip.entries().empty();
  for (const files::ZipEntry& entry : zip.entries())
    arrays = arrays && entry.name.ends_with(".npy");
  require(
      arrays, path.string(),
      ": expected a zip with a Keras model or NumPy arrays, found neither config.json nor .npy");
  FileContents out;
  out.format = "NumPy arrays";
  for (const auto& [name, tensor] : read_npz(path)) out.tensors.push_back(held(name, tensor));
  return out;
}

FileContents safetensors_contents(const files::FileView& file) {
  FileContents out;
  out.format = "safetensors";
  for (const auto& [name, tensor] : files::read_safetensors(file).tensors)
    out.tensors.push_back(held(name, tensor));
  return out;
}

// The weights in the shards beside an index. Names that lead to other folders are not followed.
FileContents shard_contents(const Json& shards_of, const std::filesystem::path& index) {
  FileContents out;
  out.format = "sharded HDF5 weights";
  std::set<std::string> names;
  for (const auto& [group, shards] : shards_of.as_object())
    for (const Json& shard : shards.is_string() ? Json::Array{shards} : shards.as_array())
      names.insert(shard.as_string());
  for (const std::string& name : names) {
    if (std::filesystem::path(name).filename() == name &&
        std::filesystem::exists(index.parent_path() / name))
      take_weights(out, files::map_in_folder(index.parent_path(), name));
    else
      out.others.push_back("missing shard: " + name);
  }
  return out;
}

FileContents json_contents(const files::FileView& file, const std::filesystem::path& path) {
  FileContents out;
  Json json = json_of(text_of(file), file.name());
  if (const Json* shards = json.is_object() ? json.find("weight_map") : nullptr) {
    try {
      return shard_contents(*shards, path);
    } catch (const UserError& error) {
      fail(file.name(), ": ", error.what());
    }
  }
  require(json.is_object() && json.contains("class_name"), file.name(),
          ": expected JSON of a model's config, got JSON without a class_name");
  out.format = "model config";
  set_config(out, std::move(json));
  return out;
}

}  // namespace

uint64_t StoredTensor::bytes() const {
  uint64_t count = size_of(dtype);
  for (const int64_t size : dims) count *= static_cast<uint64_t>(size);
  return count;
}

FileContents inspect_file(const std::filesystem::path& path) {
  require(std::filesystem::exists(path), path.string(), ": no such file");
  if (std::filesystem::is_directory(path)) return keras_folder(path);
  const files::FileView file = files::map_file(path);
  const std::string_view text = text_of(file);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (text.starts_with("PK")) return zip_contents(file, path);
  if (text.starts_with("\x89HDF")) return hdf5_contents(file);
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '"'))
    return json_contents(file, path);
  if (text.size() > 9 && text[8] == '{') return safetensors_contents(file);
  fail(path.string(), ": not a Keras model, HDF5, .npz, safetensors or JSON file");
}

}  // namespace keratin
