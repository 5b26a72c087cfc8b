#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "keratin/plan/backend.h"

namespace keratin {

// For each of some steps, the earlier ones that must be finished when it starts.
using Dependencies = std::vector<std::vector<size_t>>;

// The work of one session on a device that has its own memory and runs asynchronously.
class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;
  // Freed with the queue; BackendError when there is too little memory.
  virtual std::byte* allocate(size_t bytes) = 0;
  // Memory of the host that the device can read and write.
  virtual std::byte* allocate_host(size_t bytes) = 0;
  // From now on, what the calling thread launches goes into this queue.
  virtual void enter() = 0;

  // Copies between the host and the device, in the order of the launches. The source of an upload
  // may be changed once the call returns; a download is complete when the queue is.
  virtual void upload(void* to, const void* from, size_t bytes) = 0;
  virtual void download(void* to, const void* from, size_t bytes) = 0;
  // An upload in two parts, from memory of `allocate_host`: `send_staged` copies the block while
  // earlier launches still run; `receive_staged` makes launches after it wait for the copy. It is
  // always the same block, and may be changed again when `wait_sent` returns. `wait(known)` returns
  // how many bytes are ready to be sent, once these are more than `known`.
  using WaitForBytes = std::function<size_t(size_t known)>;
  virtual void send_staged(void* to, const void* from, size_t bytes, const WaitForBytes& wait) = 0;
  virtual void wait_sent() = 0;
  virtual void receive_staged() = 0;

  // Returns when all work is done; any thread may wait.
  virtual void wait() = 0;
  // Throws the errors that kernels have reported so far.
  virtual void throw_errors() = 0;
  void finish() {
    wait();
    throw_errors();
  }

  // Records the launches of the steps, after a `receive_staged`, without running them. `replay`
  // runs them with the same addresses. False if the device cannot record them.
  virtual bool record(std::span<const Launch> /*steps*/, const Dependencies& /*after*/) {
    return false;
  }
  virtual void replay() {}
};

}  // namespace keratin
