#pragma once

#include "keratin/graph/layer.h"
#include "keratin/graph/saved_form.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin::io {

// An object with variables in a file, and its path there by Keras's rule.
struct SavedObject {
  std::string path;  // "layers/lstm/cell"; "" is the model itself
  std::string name;
  std::vector<Variable> variables;
  std::shared_ptr<const Layer> layer = {};  // unless it is an optimizer
  bool is_optimizer = false;
  // True for a layer used as activation. Keras builds it when it first runs, so a file may lack its
  // weights.
  bool is_activation = false;
  // Its layer, if that holds the weights in another form than files do.
  std::shared_ptr<const HasSavedWeights> converts = nullptr;

  // What a file has of the variable with this index.
  Tensor value(size_t i) const {
    return converts ? converts->saved_value(variables[i]) : variables[i].value();
  }
  // The group of its variables: "layers/lstm/cell/vars".
  std::string group() const { return path.empty() ? "vars" : path + "/vars"; }
};

// How a version of Keras finds the layers of a model and numbers them.
struct ListRule {
  std::string_view attribute = "layers";
  bool counts_known = true;            // a layer that occurs again takes a number again
  bool lists_weighted_twice = false;   // a layer with weights takes two numbers
  bool private_members_first = false;  // members sorted by name, private ones first
};
// The first rule is Keras 3's, which Keratin writes. Keras 2.15 skips layers that occur again. Up
// to 2.14, Keras listed the dependencies of a checkpoint, and up to 2.13 these have layers with
// weights twice: the second Dense is "dense_2".
inline constexpr ListRule list_rules[] = {
    {},
    {.counts_known = false},
    {.attribute = "_layer_checkpoint_dependencies",
     .counts_known = false,
     .private_members_first = true},
    {.attribute = "_layer_checkpoint_dependencies",
     .lists_weighted_twice = true,
     .private_members_first = true},
};

// All objects of a model that a file stores, each once, at the path where Keras finds it first.
// Elements of a list are named after their classes: "layers/dense", "layers/dense_1".
std::vector<SavedObject> saved_objects(const Layer& model,
                                       const OptimizerState* optimizer = nullptr,
                                       const ListRule& rule = list_rules[0]);

}  // namespace keratin::io
