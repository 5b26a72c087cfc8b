#pragma once

#include <filesystem>

#include "keratin/base/export.h"

namespace keratin::files {
class FileView;
}

namespace keratin::io {

// The kind of a file, found from its contents. Names mislead: until 2.12 Keras wrote HDF5 under any
// name.
enum class FileKind {
  unknown,  // or missing
  folder,
  keras,           // a zip with a model
  legacy_model,    // HDF5 with a model's config
  legacy_weights,  // HDF5 with weights by layer
  weights_h5,      // HDF5 with Keras 3's tree of weights
  npz,
  safetensors,
  sharded,  // JSON that names files with weights
  config,   // JSON of a model
};
KERATIN_API FileKind kind_of(const std::filesystem::path& path);
// The same of bytes, whose name decides only for damaged ones.
KERATIN_API FileKind kind_of(const files::FileView& file);

}  // namespace keratin::io
