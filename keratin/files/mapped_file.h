#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "keratin/files/bytes.h"
#include "keratin/tensor/tensor.h"

namespace keratin::files {

// Bytes of a file, of a part of one, or of memory: alive as long as any view or tensor over them.
class FileView {
 public:
  FileView() = default;
  FileView(std::string name, Buffer buffer);

  // What errors call it: "model.keras: model.weights.h5".
  const std::string& name() const { return name_; }
  Bytes bytes() const { return {memory_.get(), size_}; }
  uint64_t size() const { return size_; }

  // [begin, begin + size), which must lie inside, without a copy.
  FileView part(uint64_t begin, uint64_t size, std::string name) const;
  // A tensor over the bytes from `begin`: without a copy where they are aligned for the dtype.
  Tensor tensor(uint64_t begin, DType dtype, const Shape& shape) const;

  // Copies the bytes from `begin`. Of a map only a little is in memory meanwhile, else what is
  // copied would be there twice; what was written into tensors over these bytes is lost.
  void copy_to(std::span<std::byte> out, uint64_t begin) const;

  // Gives the memory of a map back; the file is looked at again when needed. What was written into
  // tensors over it is lost.
  void forget() const;

 private:
  friend FileView map_file(const std::filesystem::path& path);

  std::string name_;
  std::shared_ptr<std::byte> memory_;
  bool mapped_ = false;
  uint64_t size_ = 0;
};

// A regular file as memory. The file is never changed: who writes into a tensor over it gets a page
// of their own. A file that others cut short while it is mapped kills the program, as with any map.
FileView map_file(const std::filesystem::path& path);

}  // namespace keratin::files
