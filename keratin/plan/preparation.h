#pragma once

#include "keratin/plan/backend.h"

namespace keratin {

// Work hoisted out of a step, because it depends on some of its inputs only: for example a filter
// in the layout that a library needs. It is a step of its own, which may run as soon as these
// inputs are computed, and is skipped while they stay the same. Its pointers are those of the step
// that it prepares: the inputs that it reads, no outputs, and its result as scratch memory, which
// no other step uses.
//
// `describe` names everything that the result depends on beside these inputs: on the host, plans
// share the results of preparations with the same description.
class Preparation : public Kernel {
 public:
  virtual bool reads(size_t input) const = 0;
  // True if the prepared step reads the result instead of this input, which it does not need.
  virtual bool replaces(size_t /*input*/) const { return false; }
};

// A kernel that may have a preparation, whose result is passed behind the kernel's scratch memory.
class PreparedKernel : public Kernel {
 public:
  // nullptr if none is needed.
  virtual std::unique_ptr<Preparation> preparation() const = 0;
};

}  // namespace keratin
