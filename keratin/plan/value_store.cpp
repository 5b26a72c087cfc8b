#include "keratin/plan/value_store.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "keratin/tensor/buffer.h"

namespace keratin {

namespace {

struct Table {
  std::mutex lock;
  std::unordered_map<std::string, std::weak_ptr<void>> stored;
  size_t sweep_at = 1024;  // entries, when those that have expired are looked for next
  std::atomic<size_t> bytes = 0;
};

Table& table() {
  static auto* all = new Table;  // values may live longer than static objects
  return *all;
}

}  // namespace

std::shared_ptr<void> new_stored_value(size_t bytes) {
  const Buffer buffer = Buffer::allocate(bytes);
  table().bytes += bytes;
  return {buffer.data(), [buffer](void*) { table().bytes -= buffer.size(); }};
}

std::shared_ptr<void> find_stored_value(const std::string& key) {
  Table& t = table();
  const std::lock_guard guard(t.lock);
  const auto found = t.stored.find(key);
  return found == t.stored.end() ? nullptr : found->second.lock();
}

void store_value(const std::string& key, const std::shared_ptr<void>& value) {
  Table& t = table();
  const std::lock_guard guard(t.lock);
  t.stored[key] = value;
  if (t.stored.size() < t.sweep_at) return;
  std::erase_if(t.stored, [](const auto& entry) { return entry.second.expired(); });
  t.sweep_at = 2 * t.stored.size() + 1024;
}

size_t stored_value_bytes() { return table().bytes; }

}  // namespace keratin
