#pragma once

#include <functional>
#include <string>
#include <vector>

#include "keratin/base/json.h"
#include "keratin/model/model.h"

namespace keratin {

// Models that Keras must be able to load and run. A new model is a line in models.cpp.
struct ExchangeModel {
  std::string name;
  std::function<Model()> make;
  bool trained = false;      // compiled and partly trained; training continues after loading
  Tree<Tensor> inputs = {};  // random numbers and words if there are none
  bool training = false;  // runs in training: files of augmentations do not say which flag is set
  bool compiled = false;  // on a CPU, TensorFlow runs it only if XLA compiles it
  bool legacy = true;     // saved as .h5 too, which has no vocabularies that were learned
  Json lambdas = {};      // of the zoo: what its classes need to open again
};

std::vector<ExchangeModel> exchange_models();
std::vector<ExchangeModel> layer_models();  // of each class of layers

}  // namespace keratin
