#pragma once

#include "keratin/io/keras_file.h"
#include "keratin/io/weights.h"

namespace keratin::io {

// Whole models in HDF5, as Keras wrote them before .keras: config, weights by layer, and how the
// model is trained. Files of Keras 1, 2 and 3 are read, those of Keras 3 written.
SavedModel read_legacy(const std::filesystem::path& path, const LoadOptions& options = {});
// Appears whole or not at all. With a trainer, how it trains and the optimizer's state too.
void write_legacy(const std::filesystem::path& path, const Layer& model,
                  const Trainer* trainer = nullptr);

// A layer's weights in the order of these files: those that train first.
std::vector<Variable> legacy_order(const Layer& layer);

// Weights alone, from such a file or from one that holds nothing else. Layers are paired in order,
// or by their names.
struct LegacyOptions {
  bool by_name = false;
  bool skip_mismatch = false;
};
void read_legacy_weights(const std::filesystem::path& path, const Layer& model,
                         const LegacyOptions& options = {});

}  // namespace keratin::io
