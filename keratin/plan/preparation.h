#pragma once

#include "keratin/plan/backend.h"

namespace keratin {

// What a step needs to be done before, with some of its inputs alone: a filter in the layout that a
// library wants. A step of its own, which may run as early as these inputs are there, and which
// need not run again while they stay as they are. Its pointers are those of the step that it is
// for; of these it has the inputs that it reads, no outputs, and as scratch memory what it
// prepares, which nobody else uses.
class Preparation : public Kernel {
 public:
  virtual bool reads(size_t input) const = 0;
};

// A kernel that needs one. Behind its scratch memory it is given what was prepared.
class PreparedKernel : public Kernel {
 public:
  // nullptr where it can do without.
  virtual std::unique_ptr<Preparation> preparation() const = 0;
};

}  // namespace keratin
