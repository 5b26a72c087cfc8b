#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "keratin/files/mapped_file.h"

namespace keratin::fuzz {

// The input as a file in memory of exactly its size, so that reading past its end is detected.
inline files::FileView file_of(const uint8_t* data, size_t size) {
  const std::shared_ptr<uint8_t[]> memory(new uint8_t[size]);
  if (size > 0) std::memcpy(memory.get(), data, size);
  return {"fuzz", Buffer::wrap({memory, memory.get()}, size)};
}

// The input as a file on disk, which is deleted at the end of the scope.
class DiskFile {
 public:
  DiskFile(const uint8_t* data, size_t size, const std::string& suffix)
      : path_(std::filesystem::temp_directory_path() /
              ("keratin_fuzz_" + std::to_string(getpid()) + suffix)) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  ~DiskFile() { std::filesystem::remove(path_); }
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace keratin::fuzz
