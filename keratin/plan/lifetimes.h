#pragma once

#include <limits>

#include "keratin/plan/plan.h"
#include "keratin/plan/storage.h"

namespace keratin {

// Which steps read the memory of each value, under all of its names.
class Lifetimes {
 public:
  // The last use of values that the caller, or the next run, reads.
  static constexpr size_t forever = std::numeric_limits<size_t>::max();

  struct Lifetime {
    bool used = false;
    size_t last_use = 0;                // the last step that reads it
    bool read_by_other_device = false;  // transfers left out, which do not keep memory for long
  };

  Lifetimes(const Plan& plan, const Storage& storage);
  const Lifetime& of(Value value) const { return lifetimes_[storage_.index(value)]; }

 private:
  Lifetime& of(Value value) { return lifetimes_[storage_.index(value)]; }
  void use(Value value, size_t step);
  void use_inputs(const PlanStep& step, size_t index);

  const Storage& storage_;
  std::vector<Lifetime> lifetimes_;
};

}  // namespace keratin
