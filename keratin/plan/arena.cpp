#include "keratin/plan/arena.h"

#include <algorithm>

#include "keratin/base/text.h"

namespace keratin {

size_t Arena::allocate(size_t bytes) {
  bytes = std::max<size_t>(1, (bytes + alignment - 1) / alignment) * alignment;
  const auto fit = free_by_size_.lower_bound({bytes, 0});
  size_t offset = size_;
  if (fit != free_by_size_.end()) {
    const auto [found, start] = *fit;
    offset = start;
    free_by_size_.erase(fit);
    free_.erase(start);
    if (found > bytes) insert_free(start + bytes, found - bytes);
  } else {
    // Free memory at the end grows instead of becoming a hole.
    if (!free_.empty() && free_.rbegin()->first + free_.rbegin()->second == size_) {
      offset = free_.rbegin()->first;
      free_by_size_.erase({size_ - offset, offset});
      free_.erase(offset);
    }
    size_ = offset + bytes;
  }
  used_[offset] = bytes;
  return offset;
}

void Arena::insert_free(size_t offset, size_t bytes) {
  free_[offset] = bytes;
  free_by_size_.insert({bytes, offset});
}

void Arena::release(size_t offset) {
  const auto used = used_.find(offset);
  ensure(used != used_.end(), "Arena: nothing was allocated at ", offset);
  size_t bytes = used->second;
  used_.erase(used);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + bytes) {
    bytes += next->second;
    free_by_size_.erase({next->second, next->first});
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      free_by_size_.erase({before->second, before->first});
      free_.erase(before);
    }
  }
  insert_free(offset, bytes);
}

}  // namespace keratin
