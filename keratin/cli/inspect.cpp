#include <iomanip>
#include <iostream>
#include <map>
#include <new>
#include <sstream>

#include "keratin/cli/arguments.h"
#include "keratin/cli/models.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

// Whether the file opens, and with which messages. To know, it is opened: the model is built and
// its weights are read, but nothing is run.
struct Opening {
  std::string error;           // "" when it opens
  std::string training_error;  // why it opens only without how it is trained; "" when it does not
  std::vector<std::string> warnings;
};

std::string error_of_opening(const std::string& path, bool compile, Opening& out) {
  out.warnings.clear();
  const WarningHandler before =
      set_warning_handler([&](const std::string& message) { out.warnings.push_back(message); });
  std::string error;
  try {
    open_model(path, {.compile = compile});
  } catch (const UserError& refused) {
    error = refused.what();
  } catch (const std::bad_alloc&) {
    error = "there is not enough memory";
  }
  set_warning_handler(before);
  return error;
}

Opening try_to_open(const std::string& path) {
  Opening out;
  out.training_error = error_of_opening(path, /*compile=*/true, out);
  if (!out.training_error.empty()) out.error = error_of_opening(path, /*compile=*/false, out);
  if (!out.error.empty()) out.training_error.clear();
  return out;
}

uint64_t total_bytes(const std::vector<StoredTensor>& tensors, bool of_optimizer) {
  uint64_t sum = 0;
  for (const StoredTensor& tensor : tensors)
    if (tensor.of_optimizer == of_optimizer) sum += tensor.bytes();
  return sum;
}

std::string word(const Json& json, std::string_view key) {
  const Json* found = member(json, key);
  return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

// The list of layers in a config of Keras 3, 2 or 1; nothing where there is none.
const Json* layers_of(const Json& config) {
  const Json* inner = member(config, "config");
  if (inner == nullptr) return nullptr;
  if (inner->is_array()) return inner;
  const Json* layers = member(*inner, "layers");
  return layers != nullptr && layers->is_array() ? layers : nullptr;
}

// Who trains it: Keras 3 has an envelope, or a name; Keras 2 another key.
std::string optimizer_of(const Json& training) {
  for (const char* key : {"optimizer", "optimizer_config"}) {
    const Json* found = member(training, key);
    if (found == nullptr) continue;
    return found->is_string() ? found->as_string() : word(*found, "class_name");
  }
  return {};
}

Json tensor_json(const StoredTensor& tensor) {
  Json out = Json::Object{{"name", tensor.name},
                          {"dtype", text(tensor.dtype)},
                          {"shape", shape_json(tensor.dims)},
                          {"bytes", static_cast<int64_t>(tensor.bytes())}};
  if (!tensor.owner.empty()) out["owner"] = tensor.owner;
  return out;
}

Json strings(const std::vector<std::string>& all) { return Json::Array(all.begin(), all.end()); }

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json contents_json(const std::string& path, const FileContents& contents, const Opening& opening) {
  Json weights = Json::array(), optimizer = Json::array();
  for (const StoredTensor& tensor : contents.tensors)
    (tensor.of_optimizer ? optimizer : weights).push_back(tensor_json(tensor));
  Json out = Json::Object{{"file", path},
                          {"format", contents.format},
                          {"keras_version", or_null(contents.keras_version)},
                          {"date_saved", or_null(contents.date_saved)},
                          {"backend", or_null(contents.backend)}};
  out["opens"] = contents.config.is_null() ? Json() : Json(opening.error.empty());
  out["error"] = or_null(opening.error);
  out["training_error"] = or_null(opening.training_error);
  out["warnings"] = strings(opening.warnings);
  out["weights"] = weights;
  out["optimizer"] = optimizer;
  out["others"] = strings(contents.others);
  out["config"] = contents.config;
  out["training"] = contents.training;
  return out;
}

void print_field(std::string_view key, const std::string& value) {
  if (!value.empty()) std::cout << std::left << std::setw(14) << key << value << '\n';
}

std::string tensor_line(const StoredTensor& tensor, size_t width) {
  std::ostringstream out;
  out << "  " << std::left << std::setw(static_cast<int>(width)) << tensor.name << "  "
      << std::setw(5) << tensor.dtype << ' ' << Shape(tensor.dims);
  out << "  " << readable_size(static_cast<double>(tensor.bytes()));
  if (!tensor.owner.empty()) out << "  of '" << tensor.owner << "'";
  return out.str();
}

void print_tensors(const FileContents& contents, bool of_optimizer, std::string_view title) {
  size_t width = 0, count = 0;
  for (const StoredTensor& tensor : contents.tensors) {
    if (tensor.of_optimizer != of_optimizer) continue;
    width = std::max(width, tensor.name.size());
    ++count;
  }
  if (count == 0) return;
  std::cout << '\n'
            << title << ": " << count << " arrays, "
            << readable_size(static_cast<double>(total_bytes(contents.tensors, of_optimizer)))
            << '\n';
  for (const StoredTensor& tensor : contents.tensors)
    if (tensor.of_optimizer == of_optimizer) std::cout << tensor_line(tensor, width) << '\n';
}

void print_layers(const Json& config) {
  const Json* layers = layers_of(config);
  if (layers == nullptr) return;
  std::cout << "\nlayers: " << layers->size() << '\n';
  for (const Json& layer : layers->as_array()) {
    const Json* inner = member(layer, "config");
    const std::string name = inner != nullptr ? word(*inner, "name") : "";
    std::cout << "  " << (name.empty() ? word(layer, "name") : name) << " ("
              << word(layer, "class_name") << ")\n";
  }
}

void print_contents(const std::string& path, const FileContents& contents, const Opening& opening) {
  print_field("file", path);
  print_field("format", contents.format);
  print_field("keras version", contents.keras_version);
  print_field("saved", contents.date_saved);
  print_field("backend", contents.backend);
  if (!contents.config.is_null()) {
    const Json* inner = member(contents.config, "config");
    const std::string name = inner != nullptr ? word(*inner, "name") : "";
    print_field("model",
                word(contents.config, "class_name") + (name.empty() ? "" : " '" + name + "'"));
    print_field("opens", !opening.error.empty() ? "no: " + opening.error
                         : !opening.training_error.empty()
                             ? "without its training: " + opening.training_error
                             : "yes");
  }
  print_field("optimizer", optimizer_of(contents.training));
  for (const std::string& warning : opening.warnings) print_field("warning", warning);
  for (const std::string& other : contents.others) print_field("other part", other);
  print_layers(contents.config);
  print_tensors(contents, false, "weights");
  print_tensors(contents, true, "state of the optimizer");
}

Status run_inspect(const Arguments& arguments) {
  const std::string& path = arguments.file("FILE");
  const FileContents contents = inspect_file(path);
  if (arguments.flag("config")) {
    require(!contents.config.is_null(), path, ": no config in it (", contents.format, ")");
    std::cout << contents.config.dump(2) << '\n';
    return success;
  }
  Opening opening;
  if (!contents.config.is_null()) opening = try_to_open(path);
  if (arguments.flag("json"))
    std::cout << contents_json(path, contents, opening).dump(2) << '\n';
  else
    print_contents(path, contents, opening);
  return success;
}

}  // namespace

Command inspect_command() {
  return {
      .name = "inspect",
      .summary = "say what is in a file",
      .description =
          "Says what a file holds, by its contents and not its suffix: the format, the version of "
          "Keras, the layers, every array of weights and of the optimizer, config keys and parts "
          "that are not known, and whether Keratin opens it, which is tried.\n\n"
          "Works on damaged and hostile files as far as they can be read: sizes are checked before "
          "memory is asked for, and nothing is ever run.",
      .positionals = {{.name = "FILE",
                       .help = "a model, weights (.h5, .npz, .safetensors) or a config"}},
      .options = {{.name = "config", .help = "print the whole config, as JSON"}, json_option()},
      .examples = {"keratin inspect model.keras",
                   "keratin inspect --json model.weights.h5 | jq '.weights[].name'"},
      .run = run_inspect,
  };
}

}  // namespace keratin::cli
