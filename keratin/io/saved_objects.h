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

// How a version of Keras finds the layers of a model and numbers them.
struct ListRule {
  std::string_view attribute = "layers";
  bool counts_known = true;            // a layer that was met before uses up a name all the same
  bool lists_weighted_twice = false;   // a layer with weights uses up two
  bool private_members_first = false;  // members by name, the private ones before the others
};
// Keras 3's rule first, which is what is written. Keras 2.15 skips layers that it met before. Up to
// 2.14 the layers were found in what a checkpoint depends on, and up to 2.13 those with weights are
// in there twice: the second Dense is "dense_2".
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

// Everything a file keeps of a model, each object once, where Keras meets it first. Elements of a
// list are named for their classes: "layers/dense", "layers/dense_1".
std::vector<SavedObject> saved_objects(const Layer& model,
                                       const OptimizerState* optimizer = nullptr,
                                       const ListRule& rule = list_rules[0]);

}  // namespace keratin::io
