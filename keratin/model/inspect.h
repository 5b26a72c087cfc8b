#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

// An array in a file. Its data is read by `read`.
struct KERATIN_API StoredTensor {
  std::string name;   // its path in the file: "layers/dense/vars/0"
  std::string owner;  // the layer or optimizer that has it; empty if the file does not say
  DType dtype = DType::f32;
  Dims dims;
  bool of_optimizer = false;
  std::function<Tensor()> read;

  uint64_t bytes() const;
};

// The contents of a file with a model or weights. No layer is made from them, and no code is run.
struct FileContents {
  std::string format;  // "Keras model", "Keras model folder", "legacy HDF5 model", …
  std::string keras_version, date_saved, backend;
  Json config;    // of the model; null if there is none
  Json training;  // the compile config; null if there is none
  std::vector<StoredTensor> tensors;
  std::vector<std::string> others;  // members that Keras does not write; they are not read
};

// Inspects a .keras file or folder, an HDF5 file (whole models or weights), an .npz, a safetensors
// file, the index of shards or a JSON config. The format is found from the contents, not the
// suffix.
KERATIN_API FileContents inspect_file(const std::filesystem::path& path);

}  // namespace keratin
