#pragma once

#include <filesystem>

#include "keratin/base/json.h"
#include "keratin/graph/tree.h"

namespace keratin::testing {

// Golden files, the results of real Keras: tests/golden/README.md explains the format.
Json read_golden(const std::string& path);
std::filesystem::path golden_path(const std::string& path);

// The classes with golden files in a folder, sorted: those files are named after a class.
std::vector<std::string> golden_classes(const std::string& folder);
// The classes with cases in a golden file, sorted: entries that have this key.
std::vector<std::string> golden_classes(const Json& golden, std::string_view key);

Tensor golden_tensor(const Json& json);
// Tensors, lists and dicts of tensors, constants.
Tree<Tensor> golden_structure(const Json& json);

// The layers of a config without keyword arguments that are null, which Keras writes and Keratin
// leaves out.
Json without_null_arguments(const Json& layers);

}  // namespace keratin::testing
