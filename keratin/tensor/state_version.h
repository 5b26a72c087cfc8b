#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace keratin {

// Counts the writes to memory that holds state, so that what follows from the state can be kept
// while it is unchanged. Two versions are equal only if nobody wrote in between.
class StateVersion {
 public:
  // The version of this memory, which all who watch it share. The memory must outlive it.
  static std::shared_ptr<const StateVersion> watch(const void* memory);

  explicit StateVersion(const void* memory);
  ~StateVersion();
  uint64_t now() const { return version_.load(std::memory_order_acquire); }

 private:
  friend void state_written(const void* memory);
  const void* const memory_;
  std::atomic<uint64_t> version_;
};

// Changes whenever any version does: one load tells that none has changed.
uint64_t state_writes();

// To be called after memory was written that may hold state, and when someone is given its address
// who may write to it before a program runs again.
void state_written(const void* memory);

}  // namespace keratin
