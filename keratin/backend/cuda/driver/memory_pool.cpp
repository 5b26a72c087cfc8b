#include "keratin/backend/cuda/driver/memory_pool.h"

#include <algorithm>
#include <bit>

namespace keratin::cuda {

namespace {

// Rounds sizes, so that similar ones share blocks: wastes at most an eighth, and at most one of the
// device's pages.
size_t rounded(size_t bytes) {
  constexpr size_t min_unit = 512, page = size_t{2} << 20;
  const size_t unit = std::clamp(std::bit_floor(bytes) / 8, min_unit, page);
  return std::max(unit, (bytes + unit - 1) / unit * unit);
}

}  // namespace

std::shared_ptr<void> Pool::take(size_t bytes) {
  const Block block = find(rounded(bytes));
  if (block.memory == nullptr) return nullptr;
  return {block.memory, [this, block](void*) { give_back(block); }};
}

size_t Pool::kept_bytes() const {
  const std::lock_guard guard(lock_);
  return kept_bytes_;
}

Pool::Block Pool::find(size_t bytes) {
  const std::lock_guard guard(lock_);
  Block block = find_kept(bytes);
  if (block.memory == nullptr) block = {source_.allocate(bytes), bytes};
  if (block.memory != nullptr || kept_.empty()) return block;
  free_oldest(0);
  return {source_.allocate(bytes), bytes};
}

// The smallest block that is large enough, unless it is so large that another request needs it
// more; of several, the one that was used last.
Pool::Block Pool::find_kept(size_t bytes) {
  auto best = kept_.rend();
  for (auto block = kept_.rbegin(); block != kept_.rend(); ++block)
    if (block->bytes >= bytes && block->bytes <= bytes + bytes / 8 &&
        (best == kept_.rend() || block->bytes < best->bytes))
      best = block;
  if (best == kept_.rend()) return {};
  const Block found = *best;
  kept_.erase(std::next(best).base());
  kept_bytes_ -= found.bytes;
  return found;
}

void Pool::give_back(Block block) {
  const std::lock_guard guard(lock_);
  if (block.bytes > max_kept_) return source_.free(block.memory);
  kept_.push_back(block);
  kept_bytes_ += block.bytes;
  free_oldest(max_kept_);
}

void Pool::free_oldest(size_t bytes_left) {
  auto block = kept_.begin();
  for (; kept_bytes_ > bytes_left; ++block) {
    source_.free(block->memory);
    kept_bytes_ -= block->bytes;
  }
  kept_.erase(kept_.begin(), block);
}

}  // namespace keratin::cuda
