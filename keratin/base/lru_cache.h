#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "keratin/base/cache_limits.h"
#include "keratin/base/hash.h"

namespace keratin::detail {

// A cache of shared values that evicts the least recently used when there are too many, or when
// they are too large together. An evicted value lives on with whoever holds it. Keys are structs
// with a field list, by which they are compared and hashed. Memory has two functions:
// `bytes(value)` is the current size of a value; `shrink(value)` frees what the value can allocate
// again, which is tried before the value is evicted.
template <HasFields Key, class Value, class Memory>
class LruCache {
 public:
  using Pointer = std::shared_ptr<Value>;

  explicit LruCache(CacheLimits limits = {}) : limits_(limits) {}

  // Makes the entry the newest and returns it; nullptr if there is none.
  Pointer find(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    const Pointer value = found->second->value;
    if (found->second == entries_.begin()) return value;
    // Values grow while they are used: the newest one has been, until now.
    measure(entries_.front());
    measure(*found->second);
    entries_.splice(entries_.begin(), entries_, found->second);
    if (measured_ > limits_.bytes) trim();
    return value;
  }

  void insert(Key key, Pointer value) {
    if (const auto found = index_.find(key); found != index_.end()) erase(found->second);
    if (!entries_.empty()) measure(entries_.front());
    entries_.push_front({std::move(key), std::move(value)});
    index_.emplace(entries_.front().key, entries_.begin());
    measure(entries_.front());
    if (measured_ > limits_.bytes || size() > max_entries()) trim();
  }

  void set_limits(CacheLimits limits) {
    limits_ = limits;
    trim();
  }
  CacheLimits limits() const { return limits_; }

  size_t size() const { return entries_.size(); }
  size_t bytes() const {
    size_t sum = 0;
    for (const Entry& entry : entries_) sum += Memory::bytes(*entry.value);
    return sum;
  }

  void clear() {
    index_.clear();
    entries_.clear();
    measured_ = 0;
  }
  // Removes the values for which remove(value) is true.
  template <class Remove>
  void erase_if(const Remove& remove) {
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto next = std::next(entry);
      if (remove(*entry->value)) erase(entry);
      entry = next;
    }
  }

 private:
  struct Hash {
    size_t operator()(const Key& key) const { return hash_of(key); }
  };
  struct Equal {
    bool operator()(const Key& a, const Key& b) const { return equal_fields(a, b); }
  };
  struct Entry {
    Key key;
    Pointer value;
    size_t bytes = 0;  // when it was measured last
  };
  using Entries = std::list<Entry>;

  size_t max_entries() const { return std::max(limits_.entries, size_t{1}); }

  void measure(Entry& entry) {
    measured_ -= entry.bytes;
    entry.bytes = Memory::bytes(*entry.value);
    measured_ += entry.bytes;
  }

  void erase(typename Entries::iterator entry) {
    measured_ -= entry->bytes;
    index_.erase(entry->key);
    entries_.erase(entry);
  }

  // Measures all entries, and evicts the oldest ones beyond the limits.
  void trim() {
    size_t count = 0, sum = 0;
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      const bool stays = count++ < std::max(limits_.always, size_t{1});
      measure(*entry);
      if (!stays && sum + entry->bytes > limits_.bytes) {
        Memory::shrink(*entry->value);
        measure(*entry);
      }
      sum += entry->bytes;
      if (count <= max_entries() && (stays || sum <= limits_.bytes)) continue;
      while (entry != entries_.end()) erase(entry++);
      return;
    }
  }

  CacheLimits limits_;
  Entries entries_;      // the newest first
  size_t measured_ = 0;  // the bytes of all
  std::unordered_map<Key, typename Entries::iterator, Hash, Equal> index_;
};

}  // namespace keratin::detail
