#include "keratin/plan/chunked_copy.h"

#include <algorithm>

namespace keratin {

ChunkedCopy::ChunkedCopy(size_t bytes, unsigned threads, const Copy& copy)
    : bytes_(bytes),
      chunk_(threads > 1 && bytes >= min_for_threads ? chunk : std::max<size_t>(bytes, 1)),
      copy_(copy),
      copied_((bytes + chunk_ - 1) / chunk_) {
  const size_t count = std::min<size_t>(threads, copied_.size());
  for (size_t i = 1; i < count; ++i)
    helpers_.emplace_back([this] {
      while (copy_next()) {
      }
    });
}

bool ChunkedCopy::copy_next() {
  const size_t mine = next_.fetch_add(1, std::memory_order_relaxed);
  if (mine >= copied_.size()) return false;
  copy_(mine * chunk_, std::min(bytes_, (mine + 1) * chunk_));
  copied_[mine].store(true, std::memory_order_release);
  copied_[mine].notify_one();
  return true;
}

size_t ChunkedCopy::wait(size_t known) {
  const size_t wanted = known / chunk_;
  while (!copied_[wanted].load(std::memory_order_acquire))
    if (!copy_next()) copied_[wanted].wait(false, std::memory_order_acquire);
  return std::min(bytes_, (wanted + 1) * chunk_);
}

}  // namespace keratin
