#pragma once

#include <cstdlib>

#include "fuzz/file.h"
#include "fuzz/hush.h"
#include "keratin/model/saving.h"

namespace keratin::fuzz {

// A model that was opened can be written, and what is written stays what it is. Not from the first
// time on: a file of Keras 2 is written as one of Keras 3.
inline void check_written(const Model& model) {
  const std::string once = model_from_json(model.to_json()).to_json();
  if (model_from_json(once).to_json() != once) std::abort();
}

// Any bytes are a whole model in a file of this kind, or a UserError.
inline void open_model(const uint8_t* data, size_t size, const char* suffix) {
  hush();
  const DiskFile file(data, size, suffix);
  try {
    check_written(load_model(file.path()));
  } catch (const UserError&) {
  }
}

}  // namespace keratin::fuzz
