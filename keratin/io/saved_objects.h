#pragma once

#include "keratin/graph/layer.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin::io {

// An object that files keep variables of, and its place there by Keras's rule.
struct SavedObject {
  std::string path;  // "layers/lstm/cell"; "" is the model itself
  std::string name;
  std::vector<Variable> variables;
  bool is_optimizer = false;
  // Keras builds a layer that is an activation when it first runs: a model saved before that has no
  // weights of it.
  bool is_activation = false;

  // The group of its variables: "layers/lstm/cell/vars".
  std::string group() const { return path.empty() ? "vars" : path + "/vars"; }
};

// Everything a file keeps of a model, each object once, where Keras meets it first. Elements of a
// list are named for their classes: "layers/dense", "layers/dense_1".
std::vector<SavedObject> saved_objects(const Layer& model,
                                       const OptimizerState* optimizer = nullptr);

}  // namespace keratin::io
