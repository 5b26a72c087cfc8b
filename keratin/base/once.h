#pragma once

#include <atomic>
#include <cstdint>

namespace keratin::detail {

// Something that happens once, whichever thread asks first; the others wait for it. When it throws
// it has not happened, and the next one tries. (std::call_once does the same, but the thread
// sanitizer's own version of it never lets go after an exception.)
class Once {
 public:
  template <class F>
  void operator()(F&& act) {
    for (State now = state_.load(std::memory_order_acquire); now != State::done;) {
      if (now == State::busy) {
        state_.wait(State::busy, std::memory_order_acquire);
        now = state_.load(std::memory_order_acquire);
      } else if (state_.compare_exchange_strong(now, State::busy, std::memory_order_acquire)) {
        try {
          act();
        } catch (...) {
          become(State::idle);
          throw;
        }
        return become(State::done);
      }
    }
  }

 private:
  enum class State : uint8_t { idle, busy, done };
  void become(State state) {
    state_.store(state, std::memory_order_release);
    state_.notify_all();
  }

  std::atomic<State> state_ = State::idle;
};

}  // namespace keratin::detail
