#include "keratin/io/file_kind.h"

#include "keratin/base/text.h"
#include "keratin/files/hdf5.h"
#include "keratin/files/zip.h"

namespace keratin::io {
namespace {

// A damaged file keeps its kind: the reader of that kind reports what is wrong with it.
FileKind kind_of_zip(const files::FileView& file, const std::filesystem::path& path) {
  try {
    const files::ZipReader zip(file);
    const bool model =
        zip.find("config.json") != nullptr || zip.find("model.weights.h5") != nullptr;
    return model ? FileKind::keras : FileKind::npz;
  } catch (const UserError&) {
    return path.extension() == ".npz" ? FileKind::npz : FileKind::keras;
  }
}

FileKind kind_of_hdf5(const files::FileView& file, const std::filesystem::path& path) {
  try {
    const hdf5::Group root = hdf5::File(file).root();
    if (root.has_attribute("model_config")) return FileKind::legacy_model;
    const bool by_layer = root.has_attribute("layer_names") || root.has_attribute("layer_names0") ||
                          root.has_group("model_weights");
    return by_layer ? FileKind::legacy_weights : FileKind::weights_h5;
  } catch (const UserError&) {
    return path.filename().string().ends_with(".weights.h5") ? FileKind::weights_h5
                                                             : FileKind::legacy_model;
  }
}

}  // namespace

FileKind kind_of(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return FileKind::folder;
  if (!std::filesystem::is_regular_file(path, ignored)) return FileKind::unknown;
  return kind_of(files::map_file(path));
}

FileKind kind_of(const files::FileView& file) {
  const std::filesystem::path path = file.name();
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  if (text.starts_with("PK")) return kind_of_zip(file, path);
  if (text.starts_with("\x89HDF")) return kind_of_hdf5(file, path);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != text.npos && (text[first] == '{' || text[first] == '"')) {
    const std::string_view head = text.substr(0, text.find(':'));
    const bool index =
        path.filename().string().ends_with(".weights.json") ||
        head.find("\"weight_map\"") != head.npos ||
        (head.find("\"metadata\"") != head.npos && text.find("\"weight_map\"") != text.npos);
    return index ? FileKind::sharded : FileKind::config;
  }
  return text.size() > 9 && text[8] == '{' ? FileKind::safetensors : FileKind::unknown;
}

}  // namespace keratin::io
