#pragma once

#include "keratin/ir/block_table.h"
#include "keratin/ir/module.h"

namespace keratin {

// The values of a program that stay the same from run to run until someone changes state that the
// program itself only reads, and that are worth keeping until then: they take no more memory than
// what they are made from.
class Lasting {
 public:
  explicit Lasting(const Module& module);
  bool operator[](Value value) const { return lasting_[value.node()] != 0; }

 private:
  BlockTable<char> lasting_;
};

}  // namespace keratin
