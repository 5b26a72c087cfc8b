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
    const Pointer value = found->second->second;
    if (found->second != entries_.begin()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      trim();  // values grow while they are used
    }
    return value;
  }

  void insert(Key key, Pointer value) {
    if (const auto found = index_.find(key); found != index_.end()) {
      entries_.erase(found->second);
      index_.erase(found);
    }
    entries_.emplace_front(std::move(key), std::move(value));
    index_.emplace(entries_.front().first, entries_.begin());
    trim();
  }

  void set_limits(CacheLimits limits) {
    limits_ = limits;
    trim();
  }
  CacheLimits limits() const { return limits_; }

  size_t size() const { return entries_.size(); }
  size_t bytes() const {
    size_t sum = 0;
    for (const auto& entry : entries_) sum += Memory::bytes(*entry.second);
    return sum;
  }

  void clear() {
    index_.clear();
    entries_.clear();
  }
  // Removes the values for which remove(value) is true.
  template <class Remove>
  void erase_if(const Remove& remove) {
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto next = std::next(entry);
      if (remove(*entry->second)) {
        index_.erase(entry->first);
        entries_.erase(entry);
      }
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
  using Entries = std::list<std::pair<Key, Pointer>>;

  void trim() {
    size_t count = 0, sum = 0;
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      Value& value = *entry->second;
      const bool stays = count++ < std::max(limits_.always, size_t{1});
      if (!stays && sum + Memory::bytes(value) > limits_.bytes) Memory::shrink(value);
      sum += Memory::bytes(value);
      if (count <= std::max(limits_.entries, size_t{1}) && (stays || sum <= limits_.bytes))
        continue;
      for (auto old = entry; old != entries_.end(); ++old) index_.erase(old->first);
      entries_.erase(entry, entries_.end());
      return;
    }
  }

  CacheLimits limits_;
  Entries entries_;  // the newest first
  std::unordered_map<Key, typename Entries::iterator, Hash, Equal> index_;
};

}  // namespace keratin::detail
