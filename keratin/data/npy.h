#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "keratin/base/export.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

// NumPy's .npy files. They are not trusted: sizes are checked against the file before memory is
// allocated, and Python objects are refused. Big-endian numbers and Fortran order are converted.
KERATIN_API Tensor read_npy(const std::filesystem::path& path);
KERATIN_API void write_npy(const std::filesystem::path& path, const Tensor& tensor);

// Several arrays by name, as numpy.savez and numpy.savez_compressed write them.
KERATIN_API std::map<std::string, Tensor> read_npz(const std::filesystem::path& path);
// The file is replaced as a whole: a crash leaves the old file or the new one.
KERATIN_API void write_npz(const std::filesystem::path& path,
                           const std::map<std::string, Tensor>& tensors);

}  // namespace keratin
