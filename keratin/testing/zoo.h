#pragma once

#include <string>
#include <vector>

#include "keratin/model/model.h"
#include "keratin/model/program.h"

// The golden models in tests/golden/models, see golden.h and golden_layers.h.
namespace keratin::testing {

struct ZooModel {
  std::string name;
  Json record;  // the golden file
  Model model;  // with Keras's weights
  Tree<Tensor> inputs;
  bool keras2 = false;
};

// The names of all models, sorted; those of Keras 2 end in ".keras2".
std::vector<std::string> zoo_names();
ZooModel load_zoo_model(const std::string& name);

// Outputs and masks must be bit-equal.
void expect_same_result(const RunResult& got, const RunResult& expected, const std::string& what);

}  // namespace keratin::testing
