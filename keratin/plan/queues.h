#pragma once

#include <atomic>
#include <cfenv>
#include <exception>
#include <thread>

#include "keratin/plan/session.h"

namespace keratin {

// Runs the queues of a plan concurrently: the first in the caller's thread, each other one in a
// thread of its own. A queue waits for another only where a step says so. `run` allocates nothing
// and takes no lock.
struct Session::Queues {
 public:
  Queues(const Plan& plan, const std::vector<Launch>& launches, Staging* staging);
  ~Queues();
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  // Returns when all queues have finished. If a step throws, the other queues stop at their next
  // step, and the error of the earliest step is thrown, with the device in front.
  void run();

 private:
  struct alignas(64) Queue {
    std::atomic<uint32_t> finished = 0;  // steps; `stopped` after an error
    std::exception_ptr error;
    size_t failed = 0;  // the step that threw
  };
  static constexpr uint32_t stopped = UINT32_MAX;

  void serve(size_t queue);
  void run_queue(size_t queue);
  // Returns when the other queue has finished the steps, or has stopped.
  void wait_for(const Wait& wait) const;

  const Plan& plan_;
  const std::vector<Launch>& launches_;
  Staging* const staging_;  // nullptr when all memory is the host's
  std::unique_ptr<Queue[]> queues_;
  const bool may_spin_;                // with a processor for each queue
  std::atomic<uint32_t> round_ = 0;    // how often `run` was called
  std::atomic<uint32_t> working_ = 0;  // threads that have not finished this round
  std::atomic<bool> failed_ = false;
  bool ends_ = false;
  std::fenv_t environment_{};  // the caller's rounding and treatment of denormals
  std::vector<std::thread> threads_;
};

}  // namespace keratin
