#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "keratin/files/atomic_file.h"
#include "keratin/tensor/tensor.h"

// Strings in NumPy's files: of bytes ("|S5") or of code points ("<U5"), filled up with zeros.
namespace keratin {

// A tensor of the data, in the order of the file; nothing if the dtype is not one of strings.
std::optional<Tensor> read_npy_strings(std::string_view type, const Shape& shape,
                                       std::string_view data, const std::string& who);
// The dtype in which the strings are written, as bytes, and the data.
std::string npy_string_type(const Tensor& strings);
void write_npy_strings(files::Sink& sink, const Tensor& strings);

}  // namespace keratin
