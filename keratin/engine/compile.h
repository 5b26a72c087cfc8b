#pragma once

#include <iosfwd>

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/engine/executable.h"
#include "keratin/ir/module.h"

namespace keratin {

struct KERATIN_API EngineOptions {
  std::string backend = "cpu";  // "cpu", "reference" or "cuda": everything on gpu:0
  int threads = 0;              // 0: as many as the machine has
  bool deterministic = false;   // results do not depend on the number of threads
  // GPUs make products of f32 from 11 significant bits; KERATIN_TF32=0 switches that off
  // everywhere.
  bool tf32 = true;
  // State stays on its GPU after a run, and results may still be on their way: look at both after
  // Tensor::wait (Variable::value does that itself).
  bool state_stays = false;
  bool decompose_all = false;    // run every composite op through its decomposition
  std::ostream* dump = nullptr;  // shows the program after each pass

  static constexpr auto fields = field_list(
      field("backend", &EngineOptions::backend), field("threads", &EngineOptions::threads),
      field("deterministic", &EngineOptions::deterministic), field("tf32", &EngineOptions::tf32),
      field("state_stays", &EngineOptions::state_stays),
      field("decompose_all", &EngineOptions::decompose_all), field("dump", &EngineOptions::dump));
};
static_assert(detail::lists_every_member<EngineOptions>());

// From a program to something that runs. All input sizes must be known.
KERATIN_API Executable compile(Module module, const EngineOptions& options = {});

}  // namespace keratin
