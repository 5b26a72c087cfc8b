#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "keratin/files/mapped_file.h"

namespace keratin::files {

// A path for a file of a test.
inline std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(::testing::TempDir()) / name;
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A view of bytes in memory, as if they were a file.
inline FileView in_memory(const std::string& bytes, const std::string& name = "test file") {
  Buffer buffer = Buffer::allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return {name, buffer};
}

// The message of the UserError that f throws; empty if it throws none.
template <class F>
std::string complaint(F&& f) {
  try {
    f();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace keratin::files
