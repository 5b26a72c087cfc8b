#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "keratin/files/bytes.h"
#include "keratin/tensor/tensor.h"

namespace keratin::files {

// The bytes of a file, of a range of one, or of memory. They live as long as any view or tensor
// over them.
class FileView {
 public:
  FileView() = default;
  FileView(std::string name, Buffer buffer);

  // The name in error messages: "model.keras: model.weights.h5".
  const std::string& name() const { return name_; }
  Bytes bytes() const { return {memory_.get(), size_}; }
  uint64_t size() const { return size_; }

  // A view of [begin, begin + size), which must lie inside. Nothing is copied.
  FileView range(uint64_t begin, uint64_t size, std::string name) const;
  // A tensor over the bytes from `begin`. They are copied only if not aligned for the dtype.
  Tensor tensor(uint64_t begin, DType dtype, const Shape& shape) const;

  // Copies the bytes from `begin` and releases the pages of the map behind itself, so that the data
  // is not in memory twice. What was written into tensors over these bytes is lost.
  void copy_to(std::span<std::byte> out, uint64_t begin) const;

  // Releases the pages of a map; they are read from the file again when needed. What was written
  // into tensors over it is lost.
  void release_pages() const;

 private:
  friend FileView map_file(const std::filesystem::path& path);

  std::string name_;
  std::shared_ptr<std::byte> memory_;
  bool mapped_ = false;
  uint64_t size_ = 0;
};

// Maps a regular file into memory. Writing into a tensor over it changes a private copy of the
// page, never the file. If another program truncates the file meanwhile, reading it raises SIGBUS.
FileView map_file(const std::filesystem::path& path);

}  // namespace keratin::files
