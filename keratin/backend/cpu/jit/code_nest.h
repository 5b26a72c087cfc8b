#pragma once

#include "keratin/backend/cpu/jit/loop_kernel.h"
#include "keratin/backend/cpu/jit/loop_nest.h"

namespace keratin::cpu {

// What the machine code of a nest is made from. Long rows are looped over, and the code reads how
// many there are, how long they are and how far apart from its block: so one code serves many
// sizes. Rows of a few vectors are written out, for one size.
struct CodeNest {
  LoopNest nest;  // with all sizes left out that the code does not depend on
  LoopIsa isa = LoopIsa::interpreter;
  bool stream = false;

  bool operator==(const CodeNest&) const = default;
  size_t hash() const;
};

CodeNest code_nest(const LoopNest& nest, LoopIsa isa, bool stream);

}  // namespace keratin::cpu
