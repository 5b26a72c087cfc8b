#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace keratin::cpu {

// Machine code in executable, read-only memory. Copies share it; the last one frees it. Small
// pieces share pages: a page is mapped twice, once to write and once to execute.
class CodeMemory {
 public:
  CodeMemory() = default;
  // Returns an empty CodeMemory if the system does not allow such memory.
  static CodeMemory copy_of(std::span<const uint8_t> code);

  const void* start() const { return start_.get(); }
  size_t size() const { return size_; }
  bool is_shared() const { return start_.use_count() > 1; }  // whether there are copies

 private:
  std::shared_ptr<const void> start_;
  size_t size_ = 0;
};

}  // namespace keratin::cpu
