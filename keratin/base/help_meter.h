#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

namespace keratin::detail {

// Decides whether sharing work is worth it. On a machine that others use too, the system takes the
// processor from a helper in the middle of a chunk, and its caller waits for milliseconds. The
// meter compares how fast work is done with help and without: its speed is the time that the work
// would take at the pace of its fastest chunk, over the time that it took. One thread alone on a
// processor has a speed of 1. When help is slower, the caller works alone for a while, which
// doubles each time that help is tried again in vain: so little time is lost.
class HelpMeter {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = std::chrono::nanoseconds;

  bool is_paused() {
    int64_t until = paused_until_.load(std::memory_order_relaxed);
    if (until == 0) return false;
    if (Clock::now().time_since_epoch().count() < until) return true;
    paused_until_.compare_exchange_strong(until, 0, std::memory_order_relaxed);
    return false;
  }

  // `work` at the pace of its fastest chunk took `wall`.
  void add(bool with_help, Time work, Time wall, Clock::time_point now) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;  // another caller's figures are as good
    Window& window = with_help ? helped_ : alone_;
    window.work += work;
    window.wall += wall;
    if (window.wall < window_length) return;
    const double speed = double(window.work.count()) / double(window.wall.count());
    window = {};
    if (!with_help) {
      speed_alone_ = speed;
    } else if (speed >= speed_alone_) {
      pause_ = shortest_pause;
    } else {
      paused_until_.store((now + pause_).time_since_epoch().count(), std::memory_order_relaxed);
      pause_ = std::min(pause_ * 2, longest_pause);
    }
  }

  static constexpr Time window_length = std::chrono::milliseconds(6);
  static constexpr Time shortest_pause = std::chrono::milliseconds(20);
  static constexpr Time longest_pause = std::chrono::milliseconds(320);

 private:
  struct Window {
    Time work{0}, wall{0};
  };
  std::atomic<int64_t> paused_until_ = 0;  // in ticks of the clock; 0 without a pause
  std::mutex mutex_;
  Window helped_, alone_;
  double speed_alone_ = 1;
  Time pause_ = shortest_pause;
};

}  // namespace keratin::detail
