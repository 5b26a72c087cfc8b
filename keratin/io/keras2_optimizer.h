#pragma once

#include "keratin/files/hdf5.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin::io {

// What a file keeps of an optimizer, in its order; a .keras has no names.
struct StoredState {
  std::vector<hdf5::Dataset> values;
  std::vector<std::string> names = {};
};

// The state as Keras 2 kept it: the iteration, then slots; the learning rate is in the config
// alone. State that does not fit is left out, with a warning.
void read_keras2_state(const StoredState& stored, const OptimizerState& optimizer,
                       const std::string& where);
// Says that a file's state is not taken.
void warn_of_other_state(const OptimizerState& optimizer, const std::string& where);

}  // namespace keratin::io
