#pragma once

#include <string>
#include <vector>

#include "keratin/model/model.h"

// The models that real Keras recorded: tests/golden/models. See golden.h and golden_layers.h.
namespace keratin::testing {

struct ZooModel {
  std::string name;
  Json record;  // all that Keras said
  Model model;  // with Keras's weights
  Tree<Tensor> inputs;
  bool keras2 = false;
};

// The names of all, sorted; those of Keras 2 end in ".keras2".
std::vector<std::string> zoo_names();
ZooModel load_zoo_model(const std::string& name);

// The outputs must be the same bits, the masks too.
void expect_same_result(const RunResult& got, const RunResult& expected, const std::string& what);

}  // namespace keratin::testing
