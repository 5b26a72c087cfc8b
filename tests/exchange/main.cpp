// Exchanges models with Keras. One side writes a model as <name>.keras or <name>.h5, and a record
// of its outputs: <name>.json has the structures of inputs and outputs with the names of arrays in
// <name>.npz. The other side loads the model, compares its outputs, and saves it again as
// <name>.back.keras or <name>.back.h5, which the first side loads.
//
// exchange write FOLDER: writes every model of models.cpp.
// exchange write_layers FOLDER: writes the models of layer_models.cpp.
// exchange read FOLDER SUFFIX: loads every <name>SUFFIX and compares.
// exchange answer FOLDER SUFFIX: does the same, and saves each model as <name>.back.*.
// exchange layers: prints the names of all layers.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/data/npy.h"
#include "keratin/io/keras_file.h"
#include "keratin/model/saving.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/golden_layers.h"
#include "keratin/testing/zoo.h"
#include "keratin/train/callback.h"
#include "tests/exchange/models.h"
#include "tests/exchange/user_parts.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;

// The options with which judge.py trains. The last batch may be smaller.
FitOptions in_order(int64_t batch_size) {
  return {.batch_size = batch_size, .epochs = 3, .verbose = 0, .shuffle = false};
}

class Writer {
 public:
  explicit Writer(const fs::path& folder) : folder_(folder) {}

  void write(const ExchangeModel& exchange) {
    clear_session();
    arrays_.clear();
    Model model = exchange.make();
    uint64_t seed = 1;
    const auto drawn =
        model.input().map<Tensor>([&](const SymbolicTensor& t) { return data_for(t, ++seed); });
    const auto inputs = exchange.inputs.leaf_count() > 0 ? exchange.inputs : drawn;
    Tree<Tensor> targets;
    if (exchange.trained) {
      targets = model.predict(inputs).map<Tensor>([&](const Tensor& t) {
        return testing::random_tensor({DType::i32, t.shape()}, 0, 2, ++seed).cast(DType::f32);
      });
      model.fit(inputs, targets, in_order(2));
    }
    model.predict(inputs);  // a layer that is an activation is built by its first call
    model.save(folder_ / (exchange.name + ".keras"));
    if (exchange.legacy) model.save(folder_ / (exchange.name + ".h5"));
    model.save_weights(folder_ / (exchange.name + ".weights.h5"));
    // Some layers change their weights when they are called, so these are saved before.
    Json file = described(model, inputs, model.predict(inputs));
    if (exchange.compiled) file["compiled"] = true;
    if (exchange.training) file["training"] = true;
    if (!exchange.lambdas.is_null()) file["lambdas"] = exchange.lambdas;
    if (exchange.trained) {
      file["targets"] = kept("target", targets);
      file["batch_size"] = 2;
      file["losses"] = config::write(model.fit(inputs, targets, in_order(2))["loss"]);
    }
    std::ofstream(folder_ / (exchange.name + ".json")) << file.dump();
    write_npz(folder_ / (exchange.name + ".npz"), arrays_);
  }

 private:
  Json described(const Model& model, const Tree<Tensor>& inputs, const Tree<Tensor>& outputs) {
    const bool half = model.to_json().find("float16") != std::string::npos;
    Json dtypes = Json::array();
    outputs.each([&](const Tensor& t) { dtypes.push_back(keras_name(t.dtype())); });
    return Json::Object{{"inputs", kept("input", inputs)},
                        {"outputs", kept("output", outputs)},
                        {"dtypes", dtypes},
                        {"tolerance", half ? 1e-2 : 1e-5}};
  }

  // Three samples of small numbers; some are zero, so that masks matter.
  static Tensor data_for(const SymbolicTensor& input, uint64_t seed) {
    Dims dims = input.shape().dims();
    for (int64_t& size : dims)
      if (size == unknown) size = 3;
    if (input.dtype() == DType::string) return words(dims, seed);
    if (is_float(input.dtype())) return testing::random_tensor({input.dtype(), dims}, -2, 2, seed);
    return testing::random_tensor({input.dtype(), dims}, 0, 5, seed);
  }

  static Tensor words(const Dims& dims, uint64_t seed) {
    static constexpr const char* some[] = {"the Cat", "a hat, a cat", "", "cat", "other words"};
    std::vector<std::string> out;
    for (int64_t i = 0; i < Shape(dims).count(); ++i)
      out.emplace_back(some[(seed + static_cast<uint64_t>(i)) % std::size(some)]);
    return {out, dims};
  }

  std::string keep(const std::string& what, const Tensor& tensor) {
    const std::string name = text(what, "_", arrays_.size());
    // NumPy has no bfloat16, so f32 is written.
    arrays_.emplace(name, tensor.dtype() == DType::bf16 ? tensor.cast(DType::f32) : tensor);
    return name;
  }

  Json kept(const std::string& what, const Tree<Tensor>& tree) {
    if (tree.is_leaf()) return keep(what, tree.leaf());
    if (tree.is_constant()) return tree.constant();
    if (tree.is_list()) {
      Json items = Json::array();
      for (const auto& item : tree.list()) items.push_back(kept(what, item));
      return items;
    }
    Json items = Json::object();
    for (const auto& [key, item] : tree.dict()) items[key] = kept(what, item);
    return items;
  }

  fs::path folder_;
  std::map<std::string, Tensor> arrays_;
};

// Writes models; one that fails does not keep the others from being written.
int write_all(const std::vector<ExchangeModel>& models, const fs::path& folder) {
  Writer writer(folder);
  int wrong = 0;
  for (const auto& model : models) try {
      writer.write(model);
    } catch (const std::exception& error) {
      std::cout << model.name << ": " << error.what() << '\n';
      ++wrong;
    }
  return wrong > 0 ? 1 : 0;
}

// The other side's record of a model.
class Record {
 public:
  explicit Record(const std::string& stem) : arrays_(read_npz(stem + ".npz")) {
    std::stringstream text;
    text << std::ifstream(stem + ".json").rdbuf();
    json_ = Json::parse(text.str());
  }

  const Json* find(const std::string& key) const { return json_.find(key); }
  const Json& at(const std::string& key) const { return json_.at(key); }
  Tree<Tensor> tree(const std::string& key) const { return with_arrays(json_.at(key)); }

 private:
  Tree<Tensor> with_arrays(const Json& names) const {
    if (names.is_string()) return arrays_.at(names.as_string());
    if (names.is_array()) {
      Tree<Tensor>::List items;
      for (const Json& item : names.as_array()) items.push_back(with_arrays(item));
      return items;
    }
    if (!names.is_object()) return names;
    Tree<Tensor>::Dict items;
    for (const auto& [key, item] : names.as_object()) items.emplace(key, with_arrays(item));
    return items;
  }

  Json json_;
  std::map<std::string, Tensor> arrays_;
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The largest relative difference. A difference is relative to the largest number or to 1 + the
// number itself, whichever is smaller. judge.py has the same rule.
double difference(const Tensor& ours, const Tensor& theirs) {
  require(ours.shape() == theirs.shape(), "shape ", ours.shape(), ", expected ", theirs.shape());
  if (theirs.dtype() == DType::string) return ours == theirs ? 0 : INFINITY;
  double scale = 0, largest = 0;
  for (int64_t i = 0; i < theirs.count(); ++i)
    if (std::isfinite(theirs.at(i))) scale = std::max(scale, std::fabs(theirs.at(i)));
  for (int64_t i = 0; i < ours.count(); ++i) {
    const double a = ours.at(i), b = theirs.at(i);
    if (same(a, b)) continue;
    const double far = std::fabs(a - b) / std::min(scale, 1 + std::fabs(b));
    largest = std::isnan(far) ? INFINITY : std::max(largest, far);
  }
  return largest;
}

// The leaves of a tree with their paths, for messages.
void flatten(const Tree<Tensor>& tree, const std::string& path,
             std::vector<std::pair<std::string, Tensor>>& out) {
  if (tree.is_leaf()) out.emplace_back(path, tree.leaf());
  if (tree.is_list())
    for (size_t i = 0; i < tree.list().size(); ++i)
      flatten(tree.list()[i], text(path, '[', i, ']'), out);
  if (tree.is_dict())
    for (const auto& [key, item] : tree.dict()) flatten(item, text(path, '[', key, ']'), out);
}

class Reader {
 public:
  explicit Reader(bool answers) : answers_(answers) {}

  // Loads a model, and collects its differences from the record.
  void read(const fs::path& path, const std::string& stem) {
    const Record record(stem);
    LoadOptions options;
    if (const Json* lambdas = record.find("lambdas"))
      options.custom_objects = testing::golden_layers(*lambdas);
    Model model = load_model(path, options);
    if (const Json* weights = record.find("weights"))
      model.load_weights(stem + weights->as_string());
    // Files of old versions have the suffix .old.
    const std::string suffix = path.extension() == ".old" ? ".keras" : path.extension().string();
    if (answers_) model.save(stem + ".back" + suffix);
    const auto inputs = record.tree("inputs");
    const double tolerance = record.at("tolerance").as_double();
    const bool training = record.find("training") != nullptr;
    compare(model.predict(inputs, {.training = training}), record, tolerance);
    if (const Json* losses = record.find("losses")) {
      const auto ours = model.fit(inputs, record.tree("targets"),
                                  in_order(record.at("batch_size").as_int()))["loss"];
      for (size_t i = 0; i < ours.size(); ++i) {
        const double wanted = (*losses)[i].as_double();
        const bool near = std::fabs(ours[i] - wanted) <= tolerance * std::max(1.0, wanted);
        if (!near) complain(text("epoch ", i, ": loss ", ours[i], ", expected ", wanted));
      }
    }
  }

  const std::vector<std::string>& complaints() const { return complaints_; }
  void complain(const std::string& what) { complaints_.push_back(what); }

 private:
  void compare(const Tree<Tensor>& outputs, const Record& record, double tolerance) {
    const auto expected = record.tree("outputs");
    require(outputs.outline() == expected.outline(), "outputs ", outputs.outline(), ", expected ",
            expected.outline());
    std::vector<std::pair<std::string, Tensor>> ours, theirs;
    flatten(outputs, "output", ours);
    flatten(expected, "output", theirs);
    const Json& dtypes = record.at("dtypes");
    for (size_t i = 0; i < ours.size(); ++i) {
      const auto& [path, tensor] = ours[i];
      if (keras_name(tensor.dtype()) != dtypes[i].as_string())
        complain(text(path, ": ", keras_name(tensor.dtype()), ", expected ", dtypes[i]));
      const double far = difference(tensor, theirs[i].second);
      if (!(far <= tolerance)) complain(text(path, " differs by ", far));
    }
  }

  bool answers_;
  std::vector<std::string> complaints_;
};

int read_all(const fs::path& folder, const std::string& suffix, bool answers) {
  int read = 0, wrong = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const std::string stem = entry.path().parent_path() / entry.path().stem();
    if (!fs::exists(stem + suffix)) continue;
    ++read;
    clear_session();
    Reader reader(answers);
    try {
      reader.read(stem + suffix, stem);
    } catch (const std::exception& error) {
      reader.complain(error.what());
    }
    for (const auto& what : reader.complaints())
      std::cout << entry.path().stem().string() << suffix << ": " << what << '\n';
    wrong += reader.complaints().empty() ? 0 : 1;
  }
  std::cout << "Keratin opened " << read << " *" << suffix << ", " << wrong << " differ\n";
  return read == 0 || wrong > 0 ? 1 : 0;
}

int run(const std::vector<std::string>& arguments) {
  set_warning_handler({});  // models that drop a mask warn
  register_user_parts();
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "layers" && arguments.size() == 1) {
    for (const auto name : layer_names()) std::cout << name << '\n';
    return 0;
  }
  if (command == "write" && arguments.size() == 2)
    return write_all(exchange_models(), arguments[1]);
  if (command == "write_layers" && arguments.size() == 2)
    return write_all(layer_models(), arguments[1]);
  if ((command == "read" || command == "answer") && arguments.size() == 3)
    return read_all(arguments[1], arguments[2], command == "answer");
  std::cerr << "usage: exchange write|write_layers FOLDER | read|answer FOLDER SUFFIX | layers\n";
  return 2;
}

}  // namespace
}  // namespace keratin

int main(int argc, char** argv) { return keratin::run({argv + 1, argv + argc}); }
