#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

#include "keratin/base/processors.h"

namespace keratin {

// Objects that calls use one at a time, between calls: as many as the process has processors, for
// more calls cannot run at the same time. Those of more callers are destroyed when they come back
// to a full pool. Taking and giving back is one atomic exchange per entry tried.
template <class T>
class IdlePool {
 public:
  IdlePool() = default;
  ~IdlePool() { clear(); }
  IdlePool(const IdlePool&) = delete;
  IdlePool& operator=(const IdlePool&) = delete;

  // nullptr if there is none.
  std::unique_ptr<T> take() {
    for (size_t i = 0; i < limit_; ++i)
      if (entries_[i].load(std::memory_order_relaxed) != nullptr)
        if (T* object = entries_[i].exchange(nullptr, std::memory_order_acquire)) {
          count_.fetch_sub(1, std::memory_order_relaxed);
          return std::unique_ptr<T>(object);
        }
    return nullptr;
  }

  // Returns false if the pool was full.
  bool give_back(std::unique_ptr<T> object) {
    for (size_t i = 0; i < limit_; ++i) {
      T* empty = nullptr;
      if (entries_[i].compare_exchange_strong(empty, object.get(), std::memory_order_release,
                                              std::memory_order_relaxed)) {
        (void)object.release();
        count_.fetch_add(1, std::memory_order_relaxed);
        return true;
      }
    }
    return false;
  }

  void clear() {
    while (take() != nullptr) {
    }
  }
  size_t count() const {
    return static_cast<size_t>(std::max(0, count_.load(std::memory_order_relaxed)));
  }
  size_t limit() const { return limit_; }

 private:
  static constexpr size_t max_entries = 64;
  std::array<std::atomic<T*>, max_entries> entries_{};
  const size_t limit_ =
      std::clamp(static_cast<size_t>(available_processors()), size_t{1}, max_entries);
  std::atomic<int> count_ = 0;  // approximate while other threads give objects back
};

}  // namespace keratin
