#pragma once

#include "keratin/base/export.h"
#include "keratin/io/file_kind.h"
#include "keratin/io/keras_file.h"
#include "keratin/model/model.h"

namespace keratin {

// A model that Python Keras or Keratin saved: a .keras file, a folder of the same parts, or a
// legacy .h5 of Keras 1, 2 or 3. It comes compiled as it was, with its optimizer's state, so that
// training goes on. What the file is its contents say, not its name; one that is a config in JSON
// gives a model with new weights.
KERATIN_API Model load_model(const std::filesystem::path& path, const LoadOptions& options = {});

// A model from the JSON of `to_json`, of Keras 3, 2 or 1, with new weights.
KERATIN_API Model model_from_json(const std::string& json, const LoadOptions& options = {});

}  // namespace keratin
