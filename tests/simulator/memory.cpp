#include "memory.h"

#include <cstdlib>
#include <cstring>

namespace keratin::simulator {

namespace {

constexpr size_t all_bytes = size_t{8} << 30, alignment = 256;

}  // namespace

void* Memory::allocate(size_t bytes, bool of_host) {
  if (bytes == 0 || bytes > all_bytes - (of_host ? 0 : used_)) return nullptr;
  void* made = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (made == nullptr) return nullptr;
  std::memset(made, 0xff, bytes);
  blocks_[reinterpret_cast<uintptr_t>(made)] = {bytes, of_host};
  if (!of_host) used_ += bytes;
  return made;
}

bool Memory::free(void* memory) {
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(memory));
  if (found == blocks_.end()) return false;
  std::memset(memory, 0xff, found->second.bytes);
  if (!found->second.of_host) used_ -= found->second.bytes;
  blocks_.erase(found);
  std::free(memory);
  return true;
}

size_t Memory::size_of(void* memory) const {
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(memory));
  return found == blocks_.end() ? 0 : found->second.bytes;
}

Memory& memory() {
  static auto* all = new Memory();  // programs may end before their work does
  return *all;
}

Memory::Found Memory::find(const void* memory, size_t bytes) const {
  const auto first = reinterpret_cast<uintptr_t>(memory);
  auto block = blocks_.upper_bound(first);
  if (block == blocks_.begin()) return Found::own_of_host;
  --block;
  const uintptr_t end = block->first + block->second.bytes;
  if (first >= end) return Found::own_of_host;
  return first + bytes <= end ? Found::reachable : Found::crosses_end;
}

}  // namespace keratin::simulator
