// write_exchange FOLDER: writes every model of models.cpp, with data and what it makes of them. For
// each, <name>.json holds the config and the structures of inputs and outputs, in which arrays of
// <name>.npz stand by name. check.py reads them.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "keratin/data/npy.h"
#include "keratin/testing/check_op.h"
#include "tests/exchange/models.h"

namespace keratin {
namespace {

class Writer {
 public:
  explicit Writer(const std::filesystem::path& folder) : folder_(folder) {}

  void write(const ExchangeModel& exchange) {
    clear_session();
    arrays_.clear();
    const Model model = exchange.make();
    uint64_t seed = 1;
    const auto inputs =
        model.input().map<Tensor>([&](const SymbolicTensor& t) { return data_for(t, ++seed); });
    Json weights = Json::array();
    for (const Variable& v : model.weights())
      weights.push_back(Json::Array{v.name(), keep("weight", v.value())});
    const Json file = Json::Object{{"model", serialize_layer(*model.layer())},
                                   {"weights", weights},
                                   {"inputs", kept("input", inputs)},
                                   {"outputs", kept("output", model.predict(inputs))}};
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

}  // namespace
}  // namespace keratin

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_exchange FOLDER\n";
    return 2;
  }
  keratin::Writer writer(argv[1]);
  for (const auto& model : keratin::exchange_models()) writer.write(model);
}
