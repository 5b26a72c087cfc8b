#pragma once

#include "keratin/base/export.h"
#include "keratin/model/model.h"

namespace keratin {

struct CloneOptions {
  // New inputs to build on, in the structure of the model's; made like the model's when not given.
  Symbols input_tensors = {};
  // The clone of one layer; a fresh copy by default. Called once for each layer but the inputs.
  std::function<LayerPtr(const LayerPtr&)> clone_function = {};
  // Makes one call of the clone, and may do more: insert layers, for example. Functional only.
  CallLayer call_function = {};
  // Hand the layers of nested models to these functions too.
  bool recursive = false;
  bool copy_weights = false;  // otherwise the clone's weights are new
  std::string name = {};      // otherwise the source's
};

// A model with the same layers and none of the same weights. The source stays as it is: its nodes,
// its config and its outputs. Names, trainable and optional flags, ties between layers and Lambdas
// survive. The clone of a compiled model is compiled alike, with an optimizer that has made no step
// and metrics that have seen nothing.
KERATIN_API Model clone_model(const Model& model, const CloneOptions& options = {});

}  // namespace keratin
