#pragma once

#include <functional>

#include "keratin/files/hdf5.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin::io {

// What a file keeps of an optimizer, in its order; a .keras has no names.
struct StoredState {
  std::vector<hdf5::Dataset> values;
  std::vector<std::string> names = {};
  // Where the file has weights in another layout: of one kind of slots, how many arrays it has, and
  // these in today's.
  size_t per_kind = 0;
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> convert = {};
};

// The state as Keras 1 and 2 kept it: the iteration, which RMSprop, Adagrad and Adadelta did not
// have until 2.3, then slots; the learning rate is in the config alone. State that does not fit is
// left out, with a warning.
void read_keras2_state(const StoredState& stored, const OptimizerState& optimizer,
                       const std::string& where);
// Says that a file's state is not taken.
void warn_of_other_state(const OptimizerState& optimizer, const std::string& where);

}  // namespace keratin::io
