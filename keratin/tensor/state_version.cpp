#include "keratin/tensor/state_version.h"

#include <mutex>
#include <unordered_map>

namespace keratin {

namespace {

struct Watched {
  std::mutex lock;
  std::unordered_map<const void*, std::weak_ptr<StateVersion>> watched;
  std::atomic<size_t> count = 0;     // the size of `watched`: a write to anything else is one load
  std::atomic<uint64_t> writes = 1;  // the latest version of all
};

Watched& all_watched() {
  static auto* all = new Watched;  // versions may live longer than static objects
  return *all;
}

}  // namespace

StateVersion::StateVersion(const void* memory)
    : memory_(memory), version_(++all_watched().writes) {}

// Another version of the same memory may have taken the entry.
StateVersion::~StateVersion() {
  Watched& t = all_watched();
  const std::lock_guard guard(t.lock);
  const auto found = t.watched.find(memory_);
  if (found != t.watched.end() && found->second.expired()) t.watched.erase(found);
  t.count.store(t.watched.size(), std::memory_order_release);
}

std::shared_ptr<const StateVersion> StateVersion::watch(const void* memory) {
  Watched& t = all_watched();
  const std::lock_guard guard(t.lock);
  auto& entry = t.watched[memory];
  auto version = entry.lock();
  if (!version) entry = version = std::make_shared<StateVersion>(memory);
  t.count.store(t.watched.size(), std::memory_order_release);
  return version;
}

uint64_t state_writes() { return all_watched().writes.load(std::memory_order_acquire); }

void state_written(const void* memory) {
  Watched& t = all_watched();
  if (t.count.load(std::memory_order_acquire) == 0) return;
  std::shared_ptr<StateVersion> version;  // released without the lock, which its end takes
  const std::lock_guard guard(t.lock);
  const auto found = t.watched.find(memory);
  if (found == t.watched.end()) return;
  version = found->second.lock();
  if (version) version->version_.store(++t.writes, std::memory_order_release);
}

}  // namespace keratin
