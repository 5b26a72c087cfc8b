#include "keratin/model/saving.h"

#include <istream>
#include <ostream>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/files/zip.h"
#include "keratin/graph/functional.h"
#include "keratin/io/file_kind.h"
#include "keratin/io/keras1_config.h"
#include "keratin/io/keras2_config.h"
#include "keratin/io/keras_file.h"
#include "keratin/io/legacy_h5.h"
#include "keratin/io/weights_file.h"

namespace keratin {
namespace {

bool is_keras(const std::filesystem::path& path) { return path.extension() == ".keras"; }
bool is_legacy(const std::filesystem::path& path) {
  return path.extension() == ".h5" || path.extension() == ".hdf5";
}

// The dialect of a model's JSON, or `fallback` if it has no version. Keras 2 writes its version,
// and Keras 1 is recognised by its keys.
Dialect dialect_of(const Json& envelope, Dialect fallback) {
  if (io::is_keras1(envelope)) return Dialect::keras2;
  const Json* version = envelope.find("keras_version");
  return version != nullptr && version->is_string() ? io::dialect_of_version(version->as_string())
                                                    : fallback;
}

Model opened(const LayerPtr& layer, Dialect dialect) {
  if (const auto functional = std::dynamic_pointer_cast<ModelLayer>(layer))
    functional->set_dialect(dialect);
  return Model(layer);
}

// True for "model/": a folder with the members of a .keras.
bool is_folder(const std::filesystem::path& path) { return path.filename().empty(); }

void unpack(const std::filesystem::path& zip, const std::filesystem::path& folder) {
  const files::ZipReader reader(files::map_file(zip));
  std::filesystem::create_directory(folder);
  for (const files::ZipEntry& entry : reader.entries()) {
    files::AtomicFile file(folder / entry.name);
    file.write(reader.read(entry).bytes());
    file.commit();
  }
}

// Replaces a folder by another. This takes two steps: the old folder is renamed before the new one
// takes its name.
void replace_folder(const std::filesystem::path& folder, const std::filesystem::path& by) {
  const std::filesystem::path old = folder.string() + ".old";
  const bool exists = std::filesystem::exists(folder);
  if (exists) std::filesystem::rename(folder, old);
  std::filesystem::rename(by, folder);
  if (exists) std::filesystem::remove_all(old);
}

void write_folder(const std::filesystem::path& path, const Layer& model, const Trainer* trainer) {
  const std::filesystem::path folder = path.parent_path();  // without the slash
  require(!std::filesystem::exists(folder) || std::filesystem::exists(folder / "config.json"),
          "save: '", folder.string(), "' already exists, and is not the folder of a model");
  const std::filesystem::path zip = folder.string() + ".part.keras";
  const std::filesystem::path unpacked = folder.string() + ".part";
  const auto clean = [&] {
    std::error_code ignored;
    std::filesystem::remove(zip, ignored);
    std::filesystem::remove_all(unpacked, ignored);
  };
  try {
    io::write_keras(zip, model, trainer);
    unpack(zip, unpacked);
    replace_folder(folder, unpacked);
  } catch (...) {
    clean();
    throw;
  }
  clean();
}

std::string contents_of(const files::FileView& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

Model config_model(const files::FileView& file, const LoadOptions& options) {
  try {
    return model_from_json(contents_of(file), options);
  } catch (const UserError& error) {
    fail(file.name(), ": ", error.what());
  }
}

Model compiled(io::SavedModel saved) {
  Model model = opened(saved.layer, saved.dialect);
  if (saved.training) model.compile(std::move(*saved.training));
  return model;
}

// A view of bytes that the caller keeps alive. Loading copies what it keeps.
files::FileView view_of(std::span<const std::byte> bytes, const std::string& name) {
  const std::shared_ptr<void> memory(const_cast<std::byte*>(bytes.data()), [](void*) {});
  return {name, Buffer::wrap(memory, bytes.size())};
}

Model load_view(const files::FileView& file, const LoadOptions& options) {
  using io::FileKind;
  const FileKind kind = io::kind_of(file);
  if (kind == FileKind::config) return config_model(file, options);
  const bool hdf5 = kind == FileKind::legacy_model || kind == FileKind::legacy_weights ||
                    kind == FileKind::weights_h5;
  require(hdf5 || kind == FileKind::keras, "File format not supported: ", file.name(),
          " are not a model", kind == FileKind::unknown ? "" : ", but weights alone",
          ". Keratin opens `.keras` files, and the legacy `.h5`.");
  const WarningScope warnings;
  return compiled(hdf5 ? io::read_legacy(file, options) : io::read_keras(file, options));
}

// Reads a stream to its end, step by step: its size is not known before.
std::vector<std::byte> read_all(std::istream& in) {
  constexpr size_t step = 1 << 20;
  std::vector<std::byte> bytes;
  while (in.good()) {
    const size_t before = bytes.size();
    bytes.resize(before + step);
    in.read(reinterpret_cast<char*>(bytes.data() + before), static_cast<std::streamsize>(step));
    bytes.resize(before + static_cast<size_t>(in.gcount()));
  }
  require(in.eof() && !in.bad(), "load_model: the stream cannot be read");
  return bytes;
}

// The kind of a file: from its contents or, if these are unknown, from its suffix.
io::FileKind kind_of_model(const std::filesystem::path& path) {
  const io::FileKind kind = io::kind_of(path);
  if (kind != io::FileKind::unknown) return kind;
  if (is_keras(path)) return io::FileKind::keras;
  return is_legacy(path) ? io::FileKind::legacy_model : kind;
}

}  // namespace

Model load_model(const std::filesystem::path& path) { return load_model(path, LoadOptions()); }

Model load_model(const std::filesystem::path& path, const LoadOptions& options) {
  using io::FileKind;
  require(std::filesystem::exists(path), "File not found: filepath=", path.string(),
          ". Please ensure the file is an accessible `.keras` zip file.");
  const FileKind kind = kind_of_model(path);
  if (kind == FileKind::config) return config_model(files::map_file(path), options);
  const bool zip = kind == FileKind::keras || kind == FileKind::folder;
  const bool hdf5 = kind == FileKind::legacy_model || kind == FileKind::legacy_weights ||
                    kind == FileKind::weights_h5;
  require(zip || hdf5, "File format not supported: filepath=", path.string(),
          kind == FileKind::unknown ? "" : ", which has weights alone",
          ". Keratin opens `.keras` files and folders, and the legacy `.h5`.");
  const WarningScope warnings;
  return compiled(hdf5 ? io::read_legacy(path, options) : io::read_keras(path, options));
}

Model load_model(std::span<const std::byte> bytes) { return load_model(bytes, LoadOptions()); }

Model load_model(std::span<const std::byte> bytes, const LoadOptions& options) {
  return load_view(view_of(bytes, "the given bytes"), options);
}

Model load_model(std::istream& in) { return load_model(in, LoadOptions()); }

Model load_model(std::istream& in, const LoadOptions& options) {
  const std::vector<std::byte> bytes = read_all(in);
  return load_view(view_of(bytes, "the bytes of the stream"), options);
}

Model model_from_json(const std::string& json) { return model_from_json(json, LoadOptions()); }

Model model_from_json(const std::string& json, const LoadOptions& options) {
  const WarningScope warnings;
  Json envelope = io::unpacked_json(json);
  const Dialect written_by = dialect_of(envelope, options.dialect.value_or(Dialect::keras3));
  if (written_by == Dialect::keras2) {
    const Json* version = envelope.find("keras_version");
    if (version != nullptr && version->is_string())
      io::warn_of_other_sampling(envelope, version->as_string());
    envelope = io::from_old(envelope, io::is_keras1(envelope));
  }
  const Dialect dialect = options.dialect.value_or(written_by);
  return opened(io::model_from(envelope, options, dialect), dialect);
}

void Model::save(const std::filesystem::path& path, const SaveOptions& options) const {
  require(is_keras(path) || is_folder(path) || (is_legacy(path) && !io::is_weights_file(path)),
          "The filename to save a model must end in .keras, in .h5 for the legacy format, or in / "
          "for a folder; `save_weights` saves weights alone. Received: filepath=",
          path.string());
  require(options.overwrite || !std::filesystem::exists(path), "save: '", path.string(),
          "' already exists; pass overwrite = true to replace it");
  if (is_keras(path))
    io::write_keras(path, *layer_, trainer_if_compiled());
  else if (is_folder(path))
    write_folder(path, *layer_, trainer_if_compiled());
  else
    io::write_legacy(path, *layer_, trainer_if_compiled());
}

std::vector<std::byte> Model::to_bytes(const SaveOptions& options) const {
  const bool legacy = options.stream_format == "h5";
  require(legacy || options.stream_format == "keras",
          "save: `stream_format` must be \"keras\" or \"h5\", got \"", options.stream_format, '"');
  files::MemoryFile file("the model");
  if (legacy)
    io::write_legacy(file, *layer_, trainer_if_compiled());
  else
    io::write_keras(file, *layer_, trainer_if_compiled());
  return file.take();
}

void Model::save(std::ostream& out, const SaveOptions& options) const {
  const std::vector<std::byte> bytes = to_bytes(options);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  require(out.flush().good(), "save: the stream cannot be written");
}

void Model::save_weights(const std::filesystem::path& path,
                         const SaveWeightsOptions& options) const {
  require(options.overwrite || !std::filesystem::exists(path), "save_weights: '", path.string(),
          "' already exists; pass overwrite = true to replace it");
  const Trainer* trainer = trainer_if_compiled();
  io::write_weights_file(
      path, *layer_,
      trainer != nullptr && trainer->optimizer().built() ? &trainer->optimizer() : nullptr,
      {.max_shard_size = options.max_shard_size});
}

void Model::load_weights(const std::filesystem::path& path, const LoadWeightsOptions& options) {
  require(layer_->built(), "You are loading weights into the model '", name(),
          "', which has not been built. Call it on data first, or give it an Input.");
  const WarningScope warnings;
  const io::FileKind found = io::kind_of(path);
  const bool legacy = found == io::FileKind::legacy_model || found == io::FileKind::legacy_weights;
  const bool unknown = found == io::FileKind::unknown;
  if (legacy || (unknown && is_legacy(path) && !io::is_weights_file(path)))
    return io::read_legacy_weights(
        path, *layer_, {.by_name = options.by_name, .skip_mismatch = options.skip_mismatch});
  require(!options.by_name, "load_weights: `by_name` is for legacy .h5 files, got ", path.string());
  require(found != io::FileKind::config || io::is_weights_file(path),
          "load_weights: ", path.string(), " has the config of a model, but no weights");
  const bool whole =
      found == io::FileKind::keras || found == io::FileKind::folder || (unknown && is_keras(path));
  Trainer* trainer = trainer_if_compiled();
  OptimizerState* optimizer = trainer != nullptr ? &trainer->optimizer() : nullptr;
  const auto read = whole ? io::read_keras_weights : io::read_weights_file;
  read(path, *layer_, optimizer, {.skip_mismatch = options.skip_mismatch});
}

}  // namespace keratin
