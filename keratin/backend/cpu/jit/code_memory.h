#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace keratin::cpu {

// Machine code in memory that can run but not be written. Copies share it; it is given back with
// the last one. Small pieces share pages: a page is mapped twice, once to write, once to run.
class CodeMemory {
 public:
  CodeMemory() = default;
  // An empty CodeMemory when the system allows no such memory.
  static CodeMemory copy_of(std::span<const uint8_t> code);

  const void* start() const { return start_.get(); }
  size_t size() const { return size_; }

 private:
  std::shared_ptr<const void> start_;
  size_t size_ = 0;
};

}  // namespace keratin::cpu
