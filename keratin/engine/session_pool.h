#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

#include "keratin/plan/session.h"

namespace keratin {

// Sessions that no call uses. Taking and giving back is one atomic exchange per entry tried.
class SessionPool {
 public:
  ~SessionPool() { clear(); }

  std::unique_ptr<Session> take() {
    for (auto& entry : entries_)
      if (entry.load(std::memory_order_relaxed) != nullptr)
        if (Session* session = entry.exchange(nullptr, std::memory_order_acquire)) {
          count_.fetch_sub(1, std::memory_order_relaxed);
          return std::unique_ptr<Session>(session);
        }
    return nullptr;
  }

  void give_back(std::unique_ptr<Session> session) {
    for (auto& entry : entries_) {
      Session* empty = nullptr;
      if (entry.compare_exchange_strong(empty, session.get(), std::memory_order_release,
                                        std::memory_order_relaxed)) {
        (void)session.release();
        count_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
    }
  }

  void clear() {
    while (take() != nullptr) {
    }
  }
  size_t count() const {
    return static_cast<size_t>(std::max(0, count_.load(std::memory_order_relaxed)));
  }

 private:
  std::array<std::atomic<Session*>, 64> entries_{};
  std::atomic<int> count_ = 0;  // approximate while other threads give sessions back
};

}  // namespace keratin
