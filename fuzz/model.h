#pragma once

#include <cstdlib>

#include "fuzz/file.h"
#include "fuzz/hush.h"
#include "keratin/model/saving.h"

namespace keratin::fuzz {

// A model can be written to JSON, and writing it again gives the same JSON. The first JSON may
// differ: a file of Keras 2 is written as one of Keras 3.
inline void check_written(const Model& model) {
  const std::string once = model_from_json(model.to_json()).to_json();
  if (model_from_json(once).to_json() != once) std::abort();
}

// Any bytes give a model from a file with this suffix, or a UserError.
inline void open_model(const uint8_t* data, size_t size, const char* suffix) {
  hush();
  const DiskFile file(data, size, suffix);
  try {
    check_written(load_model(file.path()));
  } catch (const UserError&) {
  }
}

}  // namespace keratin::fuzz
