#pragma once

#include <functional>
#include <string>

#include "keratin/layers/registry.h"
#include "keratin/model/program.h"

namespace keratin::testing {

struct LayerChecks {
  double tolerance = 2e-5;  // against Keras, see expect_close
  bool gradient = true;     // there is one, smooth at the recorded inputs
  CustomObjects custom = {};
  // The name in `custom` of a class that stands for Keras's, whose own names always mean Keras's.
  std::string registered_name = {};
  // Called with each layer before it is used, for example to set a Lambda's function.
  std::function<void(const Json& test, Layer&)> prepare = {};
  // Cases whose gradient is not the outputs' by intention, or that have none.
  std::vector<std::string> no_gradient = {};
  // The states that a stateful layer keeps from call to call.
  std::function<std::vector<Variable>(const Layer&)> states = {};
  // Cases to leave out, with the reason in a comment where they are named.
  std::vector<std::string> skip = {};
};

// Every case that tests/golden/layers/<class_name>.json records of real Keras. For each:
//   - outputs, masks, losses and changed weights are Keras's;
//   - the config is Keras's, and a layer made from it writes the same config;
//   - shapes and masks inferred for an unknown batch are those of a run;
//   - a fresh copy has its own weights and, with equal weights, gives the same bits;
//   - every backend agrees with the reference backend, on outputs, losses, changed weights and
//     gradients;
//   - gradients agree with finite differences, in f64 on the reference backend.
// For a class that is not called (InputLayer, Wrapper), only config, copy and weights are checked.
void check_layer(const std::string& class_name, const LayerChecks& checks = {});

}  // namespace keratin::testing
