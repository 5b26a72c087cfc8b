#pragma once

#include <optional>
#include <vector>

#include "keratin/backend/cpu/jit/assembler.h"
#include "keratin/backend/cpu/jit/loop_block.h"
#include "keratin/backend/cpu/jit/loop_nest.h"

namespace keratin::cpu {

// The general registers of a loop: the block that it runs, its counters, and the pointers to its
// arrays, as many as there are registers for; the others stay in the block.
class ArrayAddresses {
 public:
  // With `calls`, all registers are such that calls preserve them.
  ArrayAddresses(const LoopNest& nest, bool calls, Assembler& code);

  const Reg64& index() const { return index_; }
  const Reg64& columns() const { return columns_; }
  const Reg64& rows() const { return rows_; }

  void load();     // from the block, whose address is in rdi
  void advance();  // to the next row

  // Where the current vector of an array is, or one that is `copy` vectors on. Uses rax when the
  // pointer is not in a register.
  Address element(size_t pointer, int copy);
  // The same without the size that Xbyak takes from a vector register.
  Address element_start(size_t pointer) { return code_.ptr[element(pointer, 0).getRegExp(false)]; }

 private:
  void advance_by_block();
  static int pointer_offset(size_t pointer) {
    return static_cast<int>(offsetof(LoopBlock, pointers) + pointer * sizeof(char*));
  }

  const LoopNest& nest_;
  const bool calls_;
  Assembler& code_;
  Reg64 block_, index_, columns_, rows_;
  std::vector<std::optional<Reg64>> registers_;
};

}  // namespace keratin::cpu
