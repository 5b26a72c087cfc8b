#pragma once

#include <functional>

#include "keratin/files/hdf5.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin::io {

// The state of an optimizer in a file, in the file's order.
struct StoredState {
  std::vector<hdf5::Dataset> values;
  std::vector<std::string> names = {};  // empty for a .keras
  // If the file's weights have another layout: the number of arrays of one kind of slot, and a
  // function that converts these arrays to today's layout.
  size_t per_kind = 0;
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> convert = {};
};

// Reads the state that Keras 1 and 2 wrote: the iteration, which RMSprop, Adagrad and Adadelta
// lacked until 2.3, then slots. The learning rate is in the config alone. State that does not fit
// is ignored, with a warning.
void read_keras2_state(const StoredState& stored, const OptimizerState& optimizer,
                       const std::string& where);
// Warns that a file's state is ignored.
void warn_of_other_state(const OptimizerState& optimizer, const std::string& where);

}  // namespace keratin::io
