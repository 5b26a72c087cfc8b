#include "keratin/tensor/resident_copy.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace keratin {

namespace {

struct Table {
  std::mutex lock;
  std::unordered_map<const void*, std::weak_ptr<ResidentCopy>> known;
  std::atomic<size_t> count = 0;  // the size of `known`: without copies a lookup is one load
};

Table& table() {
  static auto* all = new Table;  // copies may live longer than static objects
  return *all;
}

}  // namespace

std::shared_ptr<ResidentCopy> find_resident_copy(const void* host) {
  Table& t = table();
  if (t.count.load(std::memory_order_acquire) == 0) return nullptr;
  const std::lock_guard guard(t.lock);
  const auto found = t.known.find(host);
  return found == t.known.end() ? nullptr : found->second.lock();
}

void add_resident_copy(const void* host, const std::shared_ptr<ResidentCopy>& copy) {
  Table& t = table();
  const std::lock_guard guard(t.lock);
  t.known[host] = copy;
  t.count.store(t.known.size(), std::memory_order_release);
}

void remove_resident_copy(const void* host) {
  Table& t = table();
  const std::lock_guard guard(t.lock);
  t.known.erase(host);
  t.count.store(t.known.size(), std::memory_order_release);
}

void copy_to_host(const void* host) {
  if (const auto copy = find_resident_copy(host)) copy->copy_to_host();
}

}  // namespace keratin
