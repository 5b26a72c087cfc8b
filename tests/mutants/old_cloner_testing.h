#pragma once

#include "keratin/model/model.h"

namespace keratin {

// Mistakes that published cloners have made. Each of the patches and releases below is a set of
// them.
struct Mistakes {
  // The input layers' places in the map of layers hold tensors, which are then called.
  bool input_layers_become_tensors = false;
  // New inputs get their shape without the batch axis.
  bool inputs_lose_the_batch = false;
  // From the outputs to the inputs, so that consumers come before what they consume.
  bool shallow_first = false;
  bool calls_the_original_layer = false;
  bool wraps_single_inputs_in_lists = false;
  bool iterates_over_depths_not_nodes = false;
  // A check after the loop that fails whatever happened.
  bool always_fails_at_the_end = false;
  // A node whose inputs are not there yet is an error, not skipped.
  bool missing_inputs_are_errors = false;
  enum class Masks {
    truncate,           // one mask for a layer without masks: its other outputs are forgotten
    only_if_supported,  // no mask from a layer that does not say it supports them
    none,               // every mask is replaced by nothing
  };
  Masks masks = Masks::truncate;
};

// The algorithm Keras 2 cloned functional models with, mistakes included.
Model clone_with_mistakes(const Model& model, const Mistakes& mistakes);

}  // namespace keratin
