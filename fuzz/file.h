#pragma once

#include <cstring>

#include "keratin/files/mapped_file.h"

namespace keratin::fuzz {

// The input as a file, in memory of exactly its size: a byte too far is seen.
inline files::FileView file_of(const uint8_t* data, size_t size) {
  const std::shared_ptr<uint8_t[]> memory(new uint8_t[size]);
  if (size > 0) std::memcpy(memory.get(), data, size);
  return {"fuzz", Buffer::wrap({memory, memory.get()}, size)};
}

}  // namespace keratin::fuzz
