#pragma once

#include <functional>
#include <string>

#include "keratin/base/export.h"
#include "keratin/model/model.h"

namespace keratin {

struct CloneOptions {
  // Inputs for the clone, in the structure of the model's inputs. By default, new ones are made.
  Symbols input_tensors = {};
  // Makes the clone of one layer; by default, a fresh copy. Called once for each layer except
  // inputs.
  std::function<LayerPtr(const LayerPtr&)> clone_function = {};
  // Makes one call of a cloned layer, and may insert other layers. For functional models only.
  std::function<Symbols(const LayerPtr&, Arguments<SymbolicTensor>)> call_function = {};
  // Applies these functions to the layers of nested models too.
  bool recursive = false;
  bool copy_weights = false;  // by default, the clone has new weights
  std::string name = {};      // by default, the source's name
};

// A model with the same layers and new weights. The source is not changed. The clone keeps names,
// trainable and optional flags, shared layers and Lambdas. The clone of a compiled model is
// compiled with the same options, and its optimizer and metrics are in their initial state.
KERATIN_API Model clone_model(const Model& model, const CloneOptions& options = {});

}  // namespace keratin
