#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "keratin/files/atomic_file.h"
#include "keratin/files/mapped_file.h"

namespace keratin::files {

// The contents of a safetensors file: tensors by name, and metadata.
struct Safetensors {
  std::vector<std::pair<std::string, Tensor>> tensors;  // in the order of the data
  std::vector<std::pair<std::string, std::string>> metadata;

  const Tensor* find(std::string_view name) const;
};

// Tensors share the file's memory. Their data must fill it, without overlaps or gaps.
Safetensors read_safetensors(const FileView& file);
inline Safetensors read_safetensors(const std::filesystem::path& path) {
  return read_safetensors(map_file(path));
}

// Tensors are written in the order of their element sizes, largest first, so that each is aligned;
// then by name.
void write_safetensors(Sink& sink, const Safetensors& contents);
void write_safetensors(const std::filesystem::path& path, const Safetensors& contents);

}  // namespace keratin::files
