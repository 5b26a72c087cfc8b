#pragma once

#include <cstddef>
#include <memory>

#include "keratin/base/export.h"
#include "keratin/tensor/device.h"

namespace keratin {

// Shared host memory, aligned to a cache line; large blocks ask the system for huge pages. It
// counts as the device's, see memory.h.
class KERATIN_API Buffer {
 public:
  Buffer() = default;
  // Contents undefined; BackendError when out of memory.
  static Buffer allocate(size_t bytes, Device device = {});
  static Buffer zeros(size_t bytes, Device device = {});
  // Memory that someone else owns and keeps alive through `owner`.
  static Buffer wrap(std::shared_ptr<void> owner, size_t bytes);

  std::byte* data() const { return static_cast<std::byte*>(memory_.get()); }
  size_t size() const { return bytes_; }

 private:
  std::shared_ptr<void> memory_;
  size_t bytes_ = 0;
};

}  // namespace keratin
