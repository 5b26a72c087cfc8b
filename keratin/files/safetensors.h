#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "keratin/files/atomic_file.h"
#include "keratin/files/mapped_file.h"

namespace keratin::files {

// A safetensors file: tensors by name, and a few words about them.
struct Safetensors {
  std::vector<std::pair<std::string, Tensor>> tensors;  // in the order of the data
  std::vector<std::pair<std::string, std::string>> metadata;

  const Tensor* find(std::string_view name) const;
};

// The tensors view the file. Their data must fill it: no overlaps, no holes, nothing after.
Safetensors read_safetensors(const FileView& file);
inline Safetensors read_safetensors(const std::filesystem::path& path) {
  return read_safetensors(map_file(path));
}

// Larger elements first, so that every tensor is aligned; then by name.
void write_safetensors(Sink& sink, const Safetensors& contents);
void write_safetensors(const std::filesystem::path& path, const Safetensors& contents);

}  // namespace keratin::files
