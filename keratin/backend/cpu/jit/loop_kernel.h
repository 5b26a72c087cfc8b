#pragma once

#include <memory>
#include <string>

#include "keratin/backend/cpu/jit/loop_program.h"

namespace keratin::cpu {

// How a loop runs: by the tile interpreter, or as code generated for one of two instruction sets.
enum class LoopIsa : uint8_t { interpreter, avx2, avx512 };

std::string_view name(LoopIsa isa);
LoopIsa best_loop_isa();  // of this machine

struct LoopOptions {
  int threads = 1;
  LoopIsa isa = best_loop_isa();
  // A loop that touches more than this many bytes bypasses the cache; half the last-level cache by
  // default.
  int64_t stream_bytes = -1;
  bool contract =
      true;  // contract products and sums to fused multiply-adds, if the machine has them
};

// A compiled loop: immutable, callable from many threads at once.
class LoopKernel {
 public:
  static LoopKernel compile(LoopProgram program, LoopOptions options = {});

  // Bytes of scratch that run() needs, aligned to 64; often none.
  size_t scratch_bytes() const;
  // Allocates nothing and takes no lock. Arrays follow the order of the program's inputs, outputs.
  void run(void* const* inputs, void* const* outputs, void* scratch) const;
  // The instruction set in use; the interpreter if there is no generated code.
  LoopIsa isa() const;
  size_t code_bytes() const;
  std::string describe() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace keratin::cpu
