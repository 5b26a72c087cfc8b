#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "keratin/plan/backend.h"

namespace keratin {

// For each of some steps, the earlier ones that must be over when it starts.
using Dependencies = std::vector<std::vector<size_t>>;

// One session's line of work on a device that has its own memory and works by itself.
class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;
  // Given back with the queue; BackendError when there is too little.
  virtual std::byte* allocate(size_t bytes) = 0;
  // Memory of the host that the device reads and writes by itself.
  virtual std::byte* allocate_host(size_t bytes) = 0;
  // From here on, what the calling thread launches goes into this queue.
  virtual void enter() = 0;

  // Between the host and the device, in the order of the launches. What is uploaded may be changed
  // once the call returns; what is downloaded is there when the queue is done.
  virtual void upload(void* to, const void* from, size_t bytes) = 0;
  virtual void download(void* to, const void* from, size_t bytes) = 0;
  // As `upload`, from memory of `allocate_host`, in two parts: it is sent while earlier launches
  // still run, and put where it belongs by `take_fed`, in the order of the launches. Always the
  // same block; it may be changed again when `wait_fed` returns. `wait(known)` returns when more
  // than the first `known` bytes are there to be sent, and says how many.
  using WaitForBytes = std::function<size_t(size_t known)>;
  virtual void feed(void* to, const void* from, size_t bytes, const WaitForBytes& wait) = 0;
  virtual void wait_fed() = 0;
  virtual void take_fed() = 0;

  // Returns when all of it is done; any thread may wait.
  virtual void wait() = 0;
  // Throws what a kernel has complained of so far.
  virtual void complain() = 0;
  void finish() {
    wait();
    complain();
  }

  // Remembers the launches of the steps without running them, and `take_fed` before them, to be run
  // by `replay` with the same addresses; false where that cannot be.
  virtual bool record(std::span<const Launch> /*steps*/, const Dependencies& /*after*/) {
    return false;
  }
  virtual void replay() {}
};

}  // namespace keratin
