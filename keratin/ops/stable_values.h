#pragma once

#include "keratin/ir/block_table.h"
#include "keratin/ir/module.h"

namespace keratin {

// The stable values of a program: they change only when state that the program reads, and does not
// update, is assigned. Only values that are worth keeping between runs count: they take no more
// memory than the values that they are computed from. A copy on another device is a stable value if
// `copies` says so.
class StableValues {
 public:
  enum class Copies { stable, not_stable };
  explicit StableValues(const Module& module, Copies copies = Copies::not_stable);
  bool contains(Value value) const { return stable_[value.node()] != 0; }

 private:
  BlockTable<char> stable_;
};

}  // namespace keratin
