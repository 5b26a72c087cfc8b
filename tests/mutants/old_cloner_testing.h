#pragma once

#include "keratin/model/model.h"

namespace keratin {

// Mistakes of published cloners. Each patch or release in mutants_test.cpp is a set of them.
struct Mistakes {
  // The map of layers has tensors instead of input layers, and these are called.
  bool input_layers_become_tensors = false;
  // New inputs have shapes without the batch axis.
  bool inputs_lose_the_batch = false;
  // Nodes are visited from the outputs to the inputs, so a call comes before its inputs.
  bool shallow_first = false;
  bool calls_the_original_layer = false;
  bool wraps_single_inputs_in_lists = false;
  bool iterates_over_depths_not_nodes = false;
  // The check after the loop always fails.
  bool always_fails_at_the_end = false;
  // A node whose inputs are missing is an error, and is not skipped.
  bool missing_inputs_are_errors = false;
  enum class Masks {
    truncate,           // one mask for a layer without masks: its other outputs are lost
    only_if_supported,  // no mask from a layer without supports_masking
    none,               // no masks at all
  };
  Masks masks = Masks::truncate;
};

// Keras 2's algorithm for cloning functional models, with its mistakes.
Model clone_with_mistakes(const Model& model, const Mistakes& mistakes);

}  // namespace keratin
