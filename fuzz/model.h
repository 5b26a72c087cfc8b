#pragma once

#include <cstdlib>

#include "fuzz/hush.h"
#include "keratin/model/saving.h"

namespace keratin::fuzz {

// A model that was opened can be written, and what is written stays what it is. Not from the first
// time on: a file of Keras 2 is written as one of Keras 3.
inline void check_written(const Model& model) {
  const std::string once = model_from_json(model.to_json()).to_json();
  if (model_from_json(once).to_json() != once) std::abort();
}

}  // namespace keratin::fuzz
