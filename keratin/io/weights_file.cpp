#include "keratin/io/weights_file.h"

#include "keratin/base/text.h"
#include "keratin/data/npy.h"
#include "keratin/files/safetensors.h"
#include "keratin/io/file_kind.h"
#include "keratin/io/weights_h5.h"
#include "keratin/io/weights_sharded.h"

namespace keratin::io {
namespace {

enum class Format { unknown, h5, sharded, npz, safetensors };
constexpr double default_shard_size = 5, gib = 1 << 30;

Format format_of(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".weights.h5")) return Format::h5;
  if (name.ends_with(".weights.json")) return Format::sharded;
  if (name.ends_with(".npz")) return Format::npz;
  if (name.ends_with(".safetensors")) return Format::safetensors;
  return Format::unknown;
}

Format known_format(const std::filesystem::path& path) {
  const Format format = format_of(path);
  require(format != Format::unknown, "The filename must end in ", weights_suffixes,
          ". Received: filepath=", path.string());
  return format;
}

// The format of a file to read: from its contents or, if these do not show it, from its name.
Format format_in(const std::filesystem::path& path) {
  switch (kind_of(path)) {
    case FileKind::weights_h5:
      return Format::h5;
    case FileKind::sharded:
      return Format::sharded;
    case FileKind::npz:
      return Format::npz;
    case FileKind::safetensors:
      return Format::safetensors;
    default:
      return known_format(path);
  }
}

using ByName = std::map<std::string, Tensor>;

class NamedWeights final : public WeightSource {
 public:
  // Tensors of a mapped file are copied: later changes of the file must not change a variable.
  NamedWeights(ByName tensors, bool over_the_file)
      : tensors_(std::move(tensors)), over_the_file_(over_the_file) {}
  size_t count(const std::string& group) const override {
    size_t found = 0;
    for (auto it = tensors_.lower_bound(group + '/');
         it != tensors_.end() && it->first.starts_with(group + '/'); ++it)
      ++found;
    return found;
  }
  bool has(const std::string& group, const std::string& name) const override {
    return tensors_.contains(group + '/' + name);
  }
  Dims dims(const std::string& group, const std::string& name) const override {
    return tensors_.at(group + '/' + name).shape().dims();
  }
  Tensor read(const std::string& group, const std::string& name) const override {
    const Tensor& tensor = tensors_.at(group + '/' + name);
    return over_the_file_ ? tensor.clone() : tensor;
  }

 private:
  ByName tensors_;
  bool over_the_file_;
};

ByName by_name(const std::vector<SavedObject>& objects) {
  ByName out;
  for (const SavedObject& object : objects)
    for (size_t i = 0; i < object.variables.size(); ++i)
      out.emplace(text(object.group(), '/', i), object.value(i));
  return out;
}

// NumPy has no bfloat16; f32 represents all its values.
ByName storable(ByName tensors) {
  for (auto& [name, tensor] : tensors)
    if (tensor.dtype() == DType::bf16) tensor = tensor.cast(DType::f32);
  return tensors;
}

ByName read_named(const std::filesystem::path& path, Format format) {
  if (format == Format::npz) return read_npz(path);
  ByName out;
  for (auto& [name, tensor] : files::read_safetensors(path).tensors) out.emplace(name, tensor);
  return out;
}

}  // namespace

bool is_weights_file(const std::filesystem::path& path) {
  return format_of(path) != Format::unknown;
}

void write_weights_file(const std::filesystem::path& path, const Layer& model,
                        const OptimizerState* optimizer, const WeightsFileOptions& options) {
  const Format format = known_format(path);
  const double shard_size = options.max_shard_size.value_or(default_shard_size);
  require(format == Format::sharded || !options.max_shard_size,
          "The filename must end in .weights.json when `max_shard_size` is given. Received: "
          "filepath=",
          path.string());
  require(shard_size > 0, "save_weights: expected a positive `max_shard_size`, got ", shard_size);
  const std::vector<SavedObject> objects = saved_objects(model, optimizer);
  if (format == Format::h5) {
    hdf5::Writer file;
    write_weights(file.root(), objects);
    file.save(path);
  } else if (format == Format::sharded) {
    write_sharded(path, objects, shard_size * gib);
  } else if (format == Format::npz) {
    write_npz(path, storable(by_name(objects)));
  } else {
    files::Safetensors file;
    for (const auto& [name, tensor] : by_name(objects)) file.tensors.emplace_back(name, tensor);
    file.metadata = {{"format", "keras"}};
    files::write_safetensors(path, file);
  }
}

void read_weights_file(const std::filesystem::path& path, const Layer& model,
                       OptimizerState* optimizer, const ReadOptions& options) {
  const Format format = format_in(path);
  const auto read = [&](const WeightSource& source) {
    // A model that was never trained has no optimizer state in its file.
    const bool both = optimizer != nullptr && source.count("optimizer/vars") > 0;
    if (both) optimizer->build(model.trainable_weights());
    const auto objects = objects_in(source, model, both ? optimizer : nullptr);
    read_weights(source, objects, path.string(), options);
    read_own_tensors(source, objects, path.string());
  };
  if (format == Format::h5)
    read(H5Weights(files::map_file(path)));
  else if (format == Format::sharded)
    read(ShardedWeights(path));
  else
    read(NamedWeights(read_named(path, format), format == Format::safetensors));
}

}  // namespace keratin::io
