#pragma once

#include <string>
#include <string_view>

#include "keratin/base/json.h"
#include "keratin/tensor/tensor.h"

// Vocabularies, as tensors of strings or i64.
namespace keratin {

// From a list in a config.
Tensor vocabulary_from_json(const Json& list, DType dtype);
// A token a line. Empty lines at the end do not count.
Tensor vocabulary_from_text(const std::string& text, DType dtype);
Tensor vocabulary_file(const std::string& path, DType dtype);
std::string vocabulary_text(const Tensor& tokens);

// A token for a message: in quotes, cut to 40 bytes, control characters replaced by '?'.
std::string shown_token(std::string_view token);

// Refuses the path of a vocabulary in a config that was read from a file.
void refuse_vocabulary_path(const Json& config);

}  // namespace keratin
