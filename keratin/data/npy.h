#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "keratin/base/export.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

// NumPy's own files. What is read is not trusted: sizes are checked against the file before memory
// is asked for, Python objects are refused, other byte orders and Fortran's order are converted.
KERATIN_API Tensor read_npy(const std::filesystem::path& path);
KERATIN_API void write_npy(const std::filesystem::path& path, const Tensor& tensor);

// Several arrays by name, as numpy.savez and numpy.savez_compressed write them.
KERATIN_API std::map<std::string, Tensor> read_npz(const std::filesystem::path& path);
// Written beside the path first and then moved there: a crash leaves the old file or the new one.
KERATIN_API void write_npz(const std::filesystem::path& path,
                           const std::map<std::string, Tensor>& tensors);

}  // namespace keratin
