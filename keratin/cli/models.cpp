#include "keratin/cli/models.h"
#include "keratin/cli/text.h"

#include <cmath>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

namespace keratin::cli {
namespace {

std::vector<std::string> names_of(const std::vector<SymbolicTensor>& tensors, char prefix) {
  std::vector<std::string> names;
  for (const SymbolicTensor& tensor : tensors) names.push_back(tensor.layer()->name());
  if (std::set(names.begin(), names.end()).size() == names.size()) return names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = text(prefix, '_', i);
  return names;
}

bool is_folder_name(const std::filesystem::path& path) { return path.filename().empty(); }

}  // namespace

Positional model_argument() {
  return {.name = "MODEL", .help = "a .keras file or folder, an .h5, or a config in .json"};
}
Option json_option() { return {.name = "json", .help = "print JSON, for programs"}; }
Option batch_size_option() {
  return {.name = "batch-size",
          .value = "N",
          .help = "samples at a time",
          .letter = 'b',
          .fallback = "32",
          .kind = Kind::integer,
          .min = 1};
}

bool is_weights_file(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  for (const char* suffix : {".weights.h5", ".weights.json", ".npz", ".safetensors"})
    if (name.ends_with(suffix)) return true;
  return false;
}

bool is_config_file(const std::filesystem::path& path) {
  return path.extension() == ".json" && !is_weights_file(path);
}

bool holds_weights_alone(const std::filesystem::path& path) {
  using io::FileKind;
  const FileKind kind = io::kind_of(path);
  return kind == FileKind::legacy_weights || kind == FileKind::weights_h5 ||
         kind == FileKind::npz || kind == FileKind::safetensors || kind == FileKind::sharded ||
         (kind == FileKind::unknown && is_weights_file(path));
}

Model open_model(const std::filesystem::path& path, const LoadOptions& options) {
  require(!std::filesystem::exists(path) || !holds_weights_alone(path), path.string(),
          ": weights alone, where a model was expected");
  if (std::filesystem::exists(path) || !is_config_file(path)) return load_model(path, options);
  try {
    return model_from_json(read_text(path), options);
  } catch (const UserError& error) {
    fail(path.string(), ": ", error.what());
  }
}

bool opens_without_training(const std::filesystem::path& path) {
  const WarningHandler before = set_warning_handler({});
  bool opens = true;
  try {
    open_model(path, {.compile = false});
  } catch (const UserError&) {
    opens = false;
  }
  set_warning_handler(before);
  return opens;
}

std::vector<std::string> input_names(const Model& model) {
  if (model.functional() == nullptr) return {"x"};
  return names_of(model.inputs(), 'x');
}

std::vector<std::string> output_names(const Model& model) {
  if (model.functional() == nullptr) return {"y"};
  return names_of(model.outputs(), 'y');
}

void check_model_output(const std::filesystem::path& path) {
  const std::string suffix = path.extension().string();
  if (suffix != ".keras" && suffix != ".h5" && suffix != ".hdf5" && suffix != ".json" &&
      !is_weights_file(path) && !is_folder_name(path))
    throw UsageError(
        text("the output must end in .keras, .h5, .json, .weights.h5, .weights.json, "
             ".npz, .safetensors or / for a folder, got '",
             path.string(), "'"));
  const std::filesystem::path folder =
      is_folder_name(path) ? path.parent_path().parent_path() : path.parent_path();
  require(folder.empty() || std::filesystem::is_directory(folder), path.string(),
          ": there is no folder '", folder.string(), "'");
}

void save_as(const Model& model, const std::filesystem::path& path) {
  if (is_weights_file(path))
    model.save_weights(path);
  else if (is_config_file(path))
    write_text(path, model.to_json(2) + '\n');
  else
    model.save(path);
}

const Json* member(const Json& json, std::string_view key) {
  return json.is_object() ? json.find(key) : nullptr;
}

Json finite_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  require(file.good() && !std::filesystem::is_directory(path), path.string(),
          ": the file cannot be read");
  return text.str();
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  if (path.empty() || path == "-") {
    std::cout << text;
    return;
  }
  const std::filesystem::path beside = path.string() + ".part";
  std::ofstream file(beside, std::ios::binary);
  file << text;
  file.close();
  if (!file.good()) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    fail(path.string(), ": the file cannot be written");
  }
  std::filesystem::rename(beside, path);
}

}  // namespace keratin::cli
