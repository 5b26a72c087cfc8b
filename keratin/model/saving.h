#pragma once

#include "keratin/io/keras_file.h"
#include "keratin/model/model.h"

#pragma GCC visibility push(default)

namespace keratin {

// A model that Python Keras or Keratin saved: a .keras file, a folder of the same parts, or a
// legacy .h5 of Keras 1, 2 or 3. It comes compiled as it was, with its optimizer's state, so that
// training goes on.
Model load_model(const std::filesystem::path& path, const LoadOptions& options = {});

// A model from the JSON of `to_json`, Keras 3's or Keras 2's, with new weights.
Model model_from_json(const std::string& json, const LoadOptions& options = {});

}  // namespace keratin

#pragma GCC visibility pop
