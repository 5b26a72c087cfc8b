#include "keratin/backend/cpu/jit/code_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <mutex>

namespace keratin::cpu {

namespace {

constexpr size_t arena_bytes = size_t{1} << 20;
constexpr size_t alignment = 64;

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

// A range of memory mapped at two addresses. Pieces are allocated front to back and never reused;
// the range is freed with its last piece.
class Arena {
 public:
  explicit Arena(size_t bytes) : bytes_(bytes) {
    const int file = memfd_create("keratin-code", MFD_CLOEXEC);
    if (file < 0) return;
    if (ftruncate(file, static_cast<off_t>(bytes)) == 0) {
      writable_ = map(file, PROT_READ | PROT_WRITE);
      runnable_ = map(file, PROT_READ | PROT_EXEC);
    }
    close(file);
  }
  ~Arena() {
    if (writable_ != nullptr) munmap(writable_, bytes_);
    if (runnable_ != nullptr) munmap(runnable_, bytes_);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  bool usable() const { return writable_ != nullptr && runnable_ != nullptr; }
  bool fits(size_t bytes) const { return used_ + bytes <= bytes_; }

  const void* add(std::span<const uint8_t> code) {
    const size_t offset = used_;
    std::memcpy(writable_ + offset, code.data(), code.size());
    used_ = round_up(used_ + code.size(), alignment);
    return runnable_ + offset;
  }

 private:
  char* map(int file, int protection) const {
    void* at = mmap(nullptr, bytes_, protection, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? nullptr : static_cast<char*>(at);
  }

  size_t bytes_;
  size_t used_ = 0;
  char* writable_ = nullptr;
  char* runnable_ = nullptr;
};

// For systems that forbid such a double mapping: separate pages, which are written first and then
// made executable.
std::shared_ptr<const void> in_own_pages(std::span<const uint8_t> code) {
  const size_t bytes = round_up(code.size(), static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  std::memcpy(at, code.data(), code.size());
  if (mprotect(at, bytes, PROT_READ | PROT_EXEC) != 0) {
    munmap(at, bytes);
    return nullptr;
  }
  return {at, [bytes](const void* memory) { munmap(const_cast<void*>(memory), bytes); }};
}

std::shared_ptr<const void> in_arena(std::span<const uint8_t> code) {
  static std::mutex mutex;
  static std::weak_ptr<Arena> current;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Arena> arena = current.lock();
  if (arena == nullptr || !arena->fits(code.size())) {
    arena = std::make_shared<Arena>(std::max(arena_bytes, round_up(code.size(), 4096)));
    if (!arena->usable()) return nullptr;
    current = arena;
  }
  const void* at = arena->add(code);
  return {std::move(arena), at};
}

}  // namespace

CodeMemory CodeMemory::copy_of(std::span<const uint8_t> code) {
  CodeMemory memory;
  memory.start_ = in_arena(code);
  if (memory.start_ == nullptr) memory.start_ = in_own_pages(code);
  if (memory.start_ != nullptr) memory.size_ = code.size();
  return memory;
}

}  // namespace keratin::cpu
