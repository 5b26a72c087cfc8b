#include "keratin/plan/filling.h"

#include <algorithm>

namespace keratin {

Filling::Filling(size_t bytes, unsigned threads, const Copy& copy)
    : bytes_(bytes),
      piece_(threads > 1 && bytes >= least_for_threads ? piece : std::max<size_t>(bytes, 1)),
      copy_(copy),
      there_((bytes + piece_ - 1) / piece_) {
  const size_t most = std::min<size_t>(threads, there_.size());
  for (size_t i = 1; i < most; ++i)
    helpers_.emplace_back([this] {
      while (copy_next()) {
      }
    });
}

bool Filling::copy_next() {
  const size_t mine = next_.fetch_add(1, std::memory_order_relaxed);
  if (mine >= there_.size()) return false;
  copy_(mine * piece_, std::min(bytes_, (mine + 1) * piece_));
  there_[mine].store(true, std::memory_order_release);
  there_[mine].notify_one();
  return true;
}

size_t Filling::wait(size_t known) {
  const size_t wanted = known / piece_;
  while (!there_[wanted].load(std::memory_order_acquire))
    if (!copy_next()) there_[wanted].wait(false, std::memory_order_acquire);
  return std::min(bytes_, (wanted + 1) * piece_);
}

}  // namespace keratin
