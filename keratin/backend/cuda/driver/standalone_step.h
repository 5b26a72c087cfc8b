#pragma once

#include "keratin/backend/cuda/driver/gpu.h"

namespace keratin::cuda {

// A queue and memory to run one step in, outside any plan.
class StandaloneStep {
 public:
  explicit StandaloneStep(const Node& node);

  Queue& queue() { return queue_; }
  // Of an input or an output.
  void* at(size_t index) const { return pointers_[index]; }
  // Binds the kernel to this queue, which is entered, and runs its preparation on the inputs as
  // they are now. Throws BackendError if there is too little memory, or if that fails.
  Launch bind(const Kernel& kernel);

 private:
  // A piece of memory that grows with the requests.
  struct Room {
    std::byte* memory = nullptr;
    size_t bytes = 0;
  };
  std::byte* take(Room& room, size_t bytes);

  Queue queue_;
  const size_t operands_;
  std::vector<void*> pointers_;  // inputs, outputs, scratch, the result of the preparation
  Room scratch_, prepared_;
};

}  // namespace keratin::cuda
