#pragma once

#include <atomic>
#include <cfenv>
#include <exception>
#include <thread>

#include "keratin/plan/plan.h"

namespace keratin {

// The queues of a plan, side by side: the caller's thread runs the first, a thread of its own each
// of the others. They meet only where a step waits. Nothing is allocated and no lock is taken.
struct Session::Queues {
 public:
  Queues(const Plan& plan, const std::vector<Launch>& launches, Staging* staging);
  ~Queues();
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  // Returns when all are done. When a step throws, the other queues stop at their next step, and
  // the error of the earliest step is thrown, with the device in front.
  void run();

 private:
  struct alignas(64) Queue {
    std::atomic<uint32_t> done = 0;  // steps; `stopped` when it goes no further
    std::exception_ptr error;
    size_t failed = 0;  // the step that threw
  };
  static constexpr uint32_t stopped = UINT32_MAX;

  void serve(size_t queue);
  void run_queue(size_t queue);
  // Until the other queue came so far, or stopped.
  void wait_for(const Wait& wait) const;

  const Plan& plan_;
  const std::vector<Launch>& launches_;
  Staging* const staging_;  // nullptr when all memory is the host's
  std::unique_ptr<Queue[]> queues_;
  const int looks_;
  std::atomic<uint32_t> round_ = 0;    // how often `run` was called
  std::atomic<uint32_t> working_ = 0;  // threads that have not finished this round
  std::atomic<bool> failed_ = false;
  bool ends_ = false;
  std::fenv_t environment_{};  // how the caller's thread rounds, and what it takes for zero
  std::vector<std::thread> threads_;
};

}  // namespace keratin
