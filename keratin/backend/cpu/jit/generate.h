#pragma once

#include "keratin/backend/cpu/jit/code_memory.h"
#include "keratin/backend/cpu/jit/loop_block.h"
#include "keratin/backend/cpu/jit/loop_kernel.h"
#include "keratin/backend/cpu/jit/loop_nest.h"

namespace keratin::cpu {

// Machine code that runs one block of a nest; false if there is none.
class GeneratedCode {
 public:
  GeneratedCode() = default;
  explicit GeneratedCode(CodeMemory memory) : memory_(std::move(memory)) {}

  explicit operator bool() const { return memory_.start() != nullptr; }
  BlockFunction function() const {
    return reinterpret_cast<BlockFunction>(reinterpret_cast<uintptr_t>(memory_.start()));
  }
  size_t size() const { return memory_.size(); }
  friend bool is_shared(const GeneratedCode& code) { return code.memory_.is_shared(); }

 private:
  CodeMemory memory_;
};

// The code of a nest, which nests that differ in sizes alone share. Blocks must have the row
// strides of the nest. Empty if the nest has no machine code (a strided column, too many
// reductions) or the system gives no executable memory. With `stream`, stores bypass the cache, and
// outputs must be aligned.
GeneratedCode generate(const LoopNest& nest, LoopIsa isa, bool stream);

// The rough cost of one operation on one element.
double inst_ns(const LoopInst& inst, LoopIsa isa);

}  // namespace keratin::cpu
