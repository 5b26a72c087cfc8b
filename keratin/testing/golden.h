#pragma once

#include <filesystem>

#include "keratin/base/json.h"
#include "keratin/graph/tree.h"

namespace keratin::testing {

// What real Keras answered: tests/golden, whose README.md explains the format.
Json read_golden(const std::string& path);
std::filesystem::path golden_path(const std::string& path);

Tensor golden_tensor(const Json& json);
// Tensors, lists and dicts of tensors, constants.
Tree<Tensor> golden_structure(const Json& json);

}  // namespace keratin::testing
