#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

// An array of a file. Its data is read when asked for.
struct KERATIN_API StoredTensor {
  std::string name;   // its place in the file: "layers/dense/vars/0"
  std::string owner;  // the layer or optimizer it belongs to, where the file says so
  DType dtype = DType::f32;
  Dims dims;
  bool of_optimizer = false;
  std::function<Tensor()> read;

  uint64_t bytes() const;
};

// What is in a file of a model or of weights. No layer is made from it, and nothing is run.
struct FileContents {
  std::string format;  // "Keras model", "Keras model folder", "legacy HDF5 model", …
  std::string keras_version, date_saved, backend;
  Json config;    // of the model; nothing where there is none
  Json training;  // how it was compiled
  std::vector<StoredTensor> tensors;
  std::vector<std::string> others;  // parts that Keras does not write there; they are not looked at
};

// Looks into a .keras file or folder, an HDF5 file (whole models or weights), an .npz, a
// safetensors file, the index of shards or a JSON config, by its contents and not its suffix.
KERATIN_API FileContents inspect_file(const std::filesystem::path& path);

}  // namespace keratin
