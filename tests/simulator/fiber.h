#pragma once

#include <cstddef>

namespace keratin::simulator {

// A stack of its own on which a function runs until it pauses or ends. One fiber runs at a time on
// a thread of the host, and what it does must not throw.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // A function that was begun before and has not ended is forgotten.
  void begin(void (*function)(void*), void* argument);
  // Runs it until it pauses or ends, which is the answer.
  bool resume();
  // Called from within: returns to the caller of resume.
  void pause();
  const void* stack_begin() const { return stack_; }
  const void* stack_end() const;

 private:
  static void enter(Fiber* fiber);

  static inline size_t made_ = 0;

  const size_t unused_;  // bytes at the end of the stack
  char* const stack_;
  void* inside_ = nullptr;   // its stack pointer while it pauses
  void* outside_ = nullptr;  // the stack of the caller of resume
  void (*function_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool ended_ = true;
};

}  // namespace keratin::simulator
