#pragma once

#include "keratin/plan/plan.h"
#include "keratin/plan/storage.h"

namespace keratin {

// The slot of each value. Values that share memory share their owner's slot.
class SlotTable {
 public:
  explicit SlotTable(const Storage& storage) : storage_(storage), slots_(storage.count()) {}

  Slot& of_owner(Value value) { return slots_[storage_.index(value)]; }
  const Slot& of_owner(Value value) const { return slots_[storage_.index(value)]; }
  bool has_slot(Value value) const { return of_owner(value).kind != Slot::Kind::none; }

  // The value's own part of that slot.
  Slot of(Value value) const {
    Slot slot = of_owner(value);
    if (storage_.owner(value) == value) return slot;
    slot.offset += storage_.offset(value);
    slot.bytes = bytes_of(value.type());
    return slot;
  }

 private:
  const Storage& storage_;
  std::vector<Slot> slots_;  // by index of the owner
};

// Whether a step's output may be written over an owner of memory that the step reads: its kernel
// must allow that for every input that uses this memory.
bool may_overwrite(const PlanStep& step, const Storage& storage, Value owner, size_t output);

}  // namespace keratin
