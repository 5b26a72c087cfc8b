#pragma once

#include <iosfwd>

#include "keratin/engine/executable.h"
#include "keratin/ir/module.h"

#pragma GCC visibility push(default)

namespace keratin {

struct CompileOptions {
  std::string backend = "cpu";  // "cpu", "reference" or "cuda": everything on gpu:0
  int threads = 0;              // 0: as many as the machine has
  bool deterministic = false;   // results do not depend on the number of threads
  // GPUs make products of f32 from 11 significant bits; KERATIN_TF32=0 switches that off
  // everywhere.
  bool tf32 = true;
  bool state_stays = false;      // on its GPU after a run: look at it through Variable::value
  bool decompose_all = false;    // run every composite op through its decomposition
  std::ostream* dump = nullptr;  // shows the program after each pass
};

// From a program to something that runs. All input sizes must be known.
Executable compile(Module module, const CompileOptions& options = {});

}  // namespace keratin

#pragma GCC visibility pop
