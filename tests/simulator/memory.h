#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace keratin::simulator {

// Blocks of memory that the driver gave: the GPUs' own, and the host's that GPUs can reach. All of
// it is memory of the process. A new block is bytes of 0xff, and so is one that is given back.
class Memory {
 public:
  // nullptr when there is too little.
  void* allocate(size_t bytes, bool of_host);
  bool free(void* memory);
  size_t size_of(void* memory) const;  // 0 where no block begins

  // Whether all of it is in one block. Memory that is in none is the host's own.
  enum class Found { own_of_host, reachable, crosses_end };
  Found find(const void* memory, size_t bytes) const;

 private:
  struct Block {
    size_t bytes = 0;
    bool of_host = false;
  };
  std::map<uintptr_t, Block> blocks_;  // by first address
  size_t used_ = 0;                    // of the GPUs
};

Memory& memory();

}  // namespace keratin::simulator
