#pragma once

#include "keratin/backend/cuda/driver/gpu.h"

namespace keratin::cuda {

// Memory for a step that is tried out, apart from any plan.
class Trial {
 public:
  explicit Trial(const Node& node);

  Queue& queue() { return queue_; }
  // Of an input or an output.
  void* at(size_t place) const { return pointers_[place]; }
  // To be launched into the trial's queue, which is entered. What the kernel needs prepared, from
  // inputs as they are now, is. BackendError when there is too little memory, or it fails.
  Launch bind(const Kernel& kernel);

 private:
  // A piece of memory that grows with what is asked for.
  struct Room {
    std::byte* memory = nullptr;
    size_t bytes = 0;
  };
  std::byte* take(Room& room, size_t bytes);

  Queue queue_;
  const size_t places_;
  std::vector<void*> pointers_;  // inputs, outputs, scratch, what was prepared
  Room scratch_, prepared_;
};

}  // namespace keratin::cuda
