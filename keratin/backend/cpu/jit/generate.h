#pragma once

#include "keratin/backend/cpu/jit/code_memory.h"
#include "keratin/backend/cpu/jit/loop_block.h"
#include "keratin/backend/cpu/jit/loop_kernel.h"
#include "keratin/backend/cpu/jit/loop_nest.h"

namespace keratin::cpu {

// Machine code that runs one block of a nest; false when there is none.
class GeneratedCode {
 public:
  GeneratedCode() = default;
  explicit GeneratedCode(CodeMemory memory) : memory_(std::move(memory)) {}

  explicit operator bool() const { return memory_.start() != nullptr; }
  BlockFunction function() const {
    return reinterpret_cast<BlockFunction>(reinterpret_cast<uintptr_t>(memory_.start()));
  }
  size_t size() const { return memory_.size(); }

 private:
  CodeMemory memory_;
};

// Nothing when the nest is beyond what is generated (a strided column, too many reductions) or the
// system refuses memory for code. With `stream`, stores bypass the cache; outputs are then aligned.
GeneratedCode generate(const LoopNest& nest, LoopIsa isa, bool stream);

// A rough price of one operation on one element.
double inst_ns(const LoopInst& inst, LoopIsa isa);

}  // namespace keratin::cpu
