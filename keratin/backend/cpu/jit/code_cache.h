#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "keratin/base/hash.h"

namespace keratin::cpu {

template <class T>
bool is_shared(const std::shared_ptr<T>& code) {
  return code.use_count() > 1;
}

// Generated code of the process, by all that it depends on. Programs for inputs of other sizes need
// mostly the same code. Code that no program uses stays until the cache is full.
// `Code` is a handle: its copies share the code, and `is_shared(code)` says whether there are
// copies outside of the cache.
template <class Key, class Code>
class CodeCache {
 public:
  static constexpr size_t max_unused = 2000;

  // The code for a key, which `make()` generates if it is not there.
  template <class Make>
  Code get(const Key& key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = codes_.find(key); found != codes_.end()) return found->second;
    }
    Code code = make();  // other threads may need other code meanwhile
    const std::lock_guard lock(mutex_);
    if (codes_.size() >= limit_) drop_unused();
    return codes_.emplace(key, std::move(code)).first->second;
  }

 private:
  struct Hash {
    size_t operator()(const Key& key) const { return detail::hash_of(key); }
  };

  void drop_unused() {
    std::erase_if(codes_, [](const auto& entry) { return !is_shared(entry.second); });
    limit_ = codes_.size() + max_unused;
  }

  std::mutex mutex_;
  std::unordered_map<Key, Code, Hash> codes_;
  size_t limit_ = max_unused;
};

}  // namespace keratin::cpu
