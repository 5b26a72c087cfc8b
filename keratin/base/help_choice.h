#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

namespace keratin::detail {

// Decides whether the calls of one program ask other threads for help. Each call does the same
// work, so calls with help and without are compared by the time that they take as a whole: steps
// that are not shared, and waiting for helpers that have lost their processor to another program,
// count. The slower way is tried again from time to time, so that little time is lost.
class HelpChoice {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = std::chrono::nanoseconds;

  bool asks_for_help(Clock::time_point now) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return prefers_help_.load(std::memory_order_relaxed);
    if (helped_.calls < first_calls) return true;
    if (alone_.calls < first_calls) return false;
    return prefers_help_ != (now >= next_trial_);
  }

  void add(bool helped, Time wall, Clock::time_point end) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;  // another caller's time is as good
    const bool trial = helped != prefers_help_;
    const Way& other = helped ? alone_ : helped_;
    const bool faster = wall < other.average;
    (helped ? helped_ : alone_).add(wall);
    if (helped_.calls < first_calls || alone_.calls < first_calls) return;
    prefers_help_.store(helped_.average <= alone_.average, std::memory_order_relaxed);
    if (!trial) return;
    // After a good trial comes another one at once.
    if (!faster)
      next_trial_ = end + wall * (prefers_help_ ? calls_per_trial_alone : calls_per_trial);
  }

  static constexpr int first_calls = 3;
  static constexpr int calls_per_trial = 40;
  // With help, it shows by itself when the machine has become busy.
  static constexpr int calls_per_trial_alone = 1000;

 private:
  struct Way {
    int calls = 0;
    Time average{0};  // of recent calls
    void add(Time wall) { average += calls++ == 0 ? wall : (wall - average) / 4; }
  };
  std::mutex mutex_;
  std::atomic<bool> prefers_help_ = true;
  Way helped_, alone_;
  Clock::time_point next_trial_ = {};
};

}  // namespace keratin::detail
