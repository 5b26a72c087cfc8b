#include "keratin/tensor/residence.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace keratin {

namespace {

struct Table {
  std::mutex lock;
  std::unordered_map<const void*, std::weak_ptr<Residence>> known;
  std::atomic<size_t> count = 0;  // of `known`, to pass by at the price of a load
};

Table& table() {
  static auto* all = new Table;  // copies may live longer than static objects
  return *all;
}

}  // namespace

std::shared_ptr<Residence> find_residence(const void* host) {
  Table& t = table();
  if (t.count.load(std::memory_order_acquire) == 0) return nullptr;
  const std::lock_guard guard(t.lock);
  const auto found = t.known.find(host);
  return found == t.known.end() ? nullptr : found->second.lock();
}

void add_residence(const void* host, const std::shared_ptr<Residence>& residence) {
  Table& t = table();
  const std::lock_guard guard(t.lock);
  t.known[host] = residence;
  t.count.store(t.known.size(), std::memory_order_release);
}

void remove_residence(const void* host) {
  Table& t = table();
  const std::lock_guard guard(t.lock);
  t.known.erase(host);
  t.count.store(t.known.size(), std::memory_order_release);
}

void bring_home(const void* host) {
  if (const auto residence = find_residence(host)) residence->bring_home();
}

}  // namespace keratin
