// exchange write FOLDER: writes every model of models.cpp as <name>.keras, with data and what it
// makes of them: <name>.json holds the structures of inputs and outputs, in which arrays of
// <name>.npz stand by name. check.py opens them in real Keras, and saves each as <name>.back.keras
// and, where Keras can, as <name>.back.h5.
// exchange read FOLDER: opens those, and compares what they make of the same data.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "keratin/data/npy.h"
#include "keratin/model/saving.h"
#include "keratin/testing/check_op.h"
#include "tests/exchange/models.h"

namespace keratin {
namespace {

// With a batch that is not full. check.py trains in the same way.
const FitOptions in_order{.batch_size = 2, .epochs = 3, .verbose = 0, .shuffle = false};

class Writer {
 public:
  explicit Writer(const std::filesystem::path& folder) : folder_(folder) {}

  void write(const ExchangeModel& exchange) {
    clear_session();
    arrays_.clear();
    Model model = exchange.make();
    uint64_t seed = 1;
    const auto inputs =
        model.input().map<Tensor>([&](const SymbolicTensor& t) { return data_for(t, ++seed); });
    Tree<Tensor> targets;
    if (exchange.trained) {
      targets = model.predict(inputs).map<Tensor>([&](const Tensor& t) {
        return testing::random_tensor({DType::i32, t.shape()}, 0, 2, ++seed).cast(DType::f32);
      });
      model.fit(inputs, targets, in_order);
    }
    Json file = Json::Object{{"inputs", kept("input", inputs)},
                             {"outputs", kept("output", model.predict(inputs))}};
    model.save(folder_ / (exchange.name + ".keras"));
    if (exchange.trained) {
      file["targets"] = kept("target", targets);
      file["losses"] = config::write(model.fit(inputs, targets, in_order)["loss"]);
    }
    std::ofstream(folder_ / (exchange.name + ".json")) << file.dump();
    write_npz(folder_ / (exchange.name + ".npz"), arrays_);
  }

 private:
  // Three samples: small numbers with zeros among them, so that there is something to mask.
  static Tensor data_for(const SymbolicTensor& input, uint64_t seed) {
    Dims dims = input.shape().dims();
    for (int64_t& size : dims)
      if (size == unknown) size = 3;
    if (is_float(input.dtype())) return testing::random_tensor({input.dtype(), dims}, -2, 2, seed);
    return testing::random_tensor({input.dtype(), dims}, 0, 5, seed);
  }

  std::string keep(const std::string& what, const Tensor& tensor) {
    const std::string name = text(what, "_", arrays_.size());
    arrays_.emplace(name, tensor);
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

  std::filesystem::path folder_;
  std::map<std::string, Tensor> arrays_;
};

Tree<Tensor> with_arrays(const Json& names, const std::map<std::string, Tensor>& arrays) {
  if (names.is_string()) return arrays.at(names.as_string());
  if (names.is_array()) {
    Tree<Tensor>::List items;
    for (const Json& item : names.as_array()) items.push_back(with_arrays(item, arrays));
    return items;
  }
  if (!names.is_object()) return names;
  Tree<Tensor>::Dict items;
  for (const auto& [key, item] : names.as_object()) items.emplace(key, with_arrays(item, arrays));
  return items;
}

// The largest difference, relative to 1 or to the larger number.
double difference(const Tensor& a, const Tensor& b) {
  require(a.shape() == b.shape(), "expected shape ", a.shape(), ", got ", b.shape());
  double largest = 0;
  for (int64_t i = 0; i < a.count(); ++i)
    if (!(a.at(i) == b.at(i)) && !(std::isnan(a.at(i)) && std::isnan(b.at(i))))
      largest = std::max(largest, std::fabs(a.at(i) - b.at(i)) / std::max(1.0, std::fabs(a.at(i))));
  return largest;
}

// Opens what Keras saved of a model of ours; says what is wrong with it.
void read_back(const std::filesystem::path& path) {
  const std::string stem = path.string().substr(0, path.string().rfind(".back."));
  std::stringstream told;
  told << std::ifstream(stem + ".json").rdbuf();
  const Json file = Json::parse(told.str());
  const auto arrays = read_npz(stem + ".npz");
  Model model = load_model(path);
  const Tree<Tensor> inputs = with_arrays(file.at("inputs"), arrays);
  const auto outputs = model.predict(inputs).flat();
  const auto wanted = with_arrays(file.at("outputs"), arrays).flat();
  require(outputs.size() == wanted.size(), "expected ", wanted.size(), " outputs, got ",
          outputs.size());
  const bool half = model.to_json().find("float16") != std::string::npos;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const double far = difference(wanted[i], outputs[i]);
    require(far <= (half ? 1e-2 : 1e-5), "output ", i, " differs by ", far);
  }
  if (const Json* losses = file.find("losses")) {
    const auto ours = model.fit(inputs, with_arrays(file.at("targets"), arrays), in_order)["loss"];
    for (size_t i = 0; i < ours.size(); ++i)
      require(std::fabs(ours[i] - (*losses)[i].as_double()) <= 1e-5, "epoch ", i, ": loss ",
              ours[i], ", expected ", (*losses)[i].as_double());
  }
}

int read_all(const std::filesystem::path& folder) {
  int read = 0, wrong = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".back.") == std::string::npos) continue;
    ++read;
    try {
      read_back(entry.path());
    } catch (const std::exception& error) {
      ++wrong;
      std::cout << name << ": " << error.what() << '\n';
    }
  }
  std::cout << "Keratin opened " << read << " files of Keras, " << wrong << " differ\n";
  return read == 0 || wrong > 0 ? 1 : 0;
}

}  // namespace
}  // namespace keratin

int main(int argc, char** argv) {
  const std::string command = argc == 3 ? argv[1] : "";
  if (command == "read") return keratin::read_all(argv[2]);
  if (command != "write") {
    std::cerr << "usage: exchange write|read FOLDER\n";
    return 2;
  }
  keratin::Writer writer(argv[2]);
  for (const auto& model : keratin::exchange_models()) writer.write(model);
}
