#pragma once

#include "keratin/io/keras_file.h"
#include "keratin/io/weights.h"

namespace keratin::io {

// Whole models in HDF5, as Keras wrote them before .keras: config, weights by layer, and how the
// model is trained. Files of Keras 2 and of Keras 3's legacy format.
SavedModel read_legacy(const std::filesystem::path& path, const LoadOptions& options = {});

// Weights alone, from such a file or from one that holds nothing else. Layers are paired in order,
// or by their names.
struct LegacyOptions {
  bool by_name = false;
  bool skip_mismatch = false;
};
void read_legacy_weights(const std::filesystem::path& path, const Layer& model,
                         const LegacyOptions& options = {});

}  // namespace keratin::io
