#pragma once

#include "keratin/io/keras_file.h"
#include "keratin/io/weights.h"
#include "keratin/train/callback.h"

namespace keratin::io {

// Reads a whole model from Keras's legacy HDF5 format: config, weights by layer, and training
// config. Files of Keras 1, 2 and 3 are read; files of Keras 3 are written.
SavedModel read_legacy(const std::filesystem::path& path, const LoadOptions& options = {});
SavedModel read_legacy(const files::FileView& file, const LoadOptions& options);
// Writes a file, which appears whole or not at all. With a trainer, the training config and the
// optimizer's state are written too.
void write_legacy(const std::filesystem::path& path, const Layer& model,
                  const Trainer* trainer = nullptr);
void write_legacy(files::OutputFile& file, const Layer& model, const Trainer* trainer);

// A layer's weights in the order of these files: trainable ones first.
std::vector<Variable> legacy_order(const Layer& layer);

// How the layers of a file are matched with those of the model: in order, or by name.
struct LegacyOptions {
  bool by_name = false;
  bool skip_mismatch = false;
};
// Reads the weights of a file, which may be a whole model or weights alone.
void read_legacy_weights(const std::filesystem::path& path, const Layer& model,
                         const LegacyOptions& options = {});

}  // namespace keratin::io
