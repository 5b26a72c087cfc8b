#pragma once

#include "keratin/ir/block_table.h"

namespace keratin {

// Which memory each value of a block uses: its own, or a part of another value's. Views are parts
// of their input, and so are consecutive rows of a caller's tensor. Such aliases need no step.
class Storage {
 public:
  explicit Storage(const Block& block);

  bool is_alias(const Node& node) const;
  // The value that owns the memory; the value itself unless it is an alias.
  Value owner(Value value) const {
    const Value owner = owners_[value.node()];
    return owner.defined() ? owner : value;
  }
  // Where an alias begins in its owner, in bytes.
  size_t offset(Value value) const { return offsets_[value.node()]; }

  // Tables about owners have `count` entries; all aliases of an owner have its index.
  size_t count() const { return count_; }
  size_t index(Value value) const {
    const Value owner = this->owner(value);
    return first_index_[owner.node()] + owner.index();
  }

 private:
  bool is_input_rows(const Node& node) const;

  BlockTable<Value> owners_;        // of aliases
  BlockTable<size_t> offsets_;      // of aliases
  BlockTable<size_t> first_index_;  // of a node's outputs
  size_t count_ = 0;
};

}  // namespace keratin
