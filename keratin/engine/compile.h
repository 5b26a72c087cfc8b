#pragma once

#include <iosfwd>

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/base/thread_pool.h"
#include "keratin/engine/executable.h"

namespace keratin {

class Module;

struct KERATIN_API EngineOptions {
  std::string backend = "cpu";  // "cpu", "reference" or "cuda": everything on gpu:0
  // 0: one per processor that the process may use, or as many as `pool` has; 1: the caller alone.
  int threads = 0;
  std::shared_ptr<ThreadPool> pool = nullptr;  // of its own; nullptr: ThreadPool::shared()
  bool deterministic = false;                  // results do not depend on the number of threads
  // GPUs compute matmuls of f32 from 11 significant bits; KERATIN_TF32=0 switches that off
  // everywhere.
  bool tf32 = true;
  // State stays resident on its GPU after a run, and results may still be computed: read both after
  // Tensor::wait (Variable::value does that itself).
  bool state_stays = false;
  bool decompose_all = false;    // run every composite op through its decomposition
  std::ostream* dump = nullptr;  // prints the program after each pass

  static constexpr auto fields = field_list(
      field("backend", &EngineOptions::backend), field("threads", &EngineOptions::threads),
      field("pool", &EngineOptions::pool), field("deterministic", &EngineOptions::deterministic),
      field("tf32", &EngineOptions::tf32), field("state_stays", &EngineOptions::state_stays),
      field("decompose_all", &EngineOptions::decompose_all), field("dump", &EngineOptions::dump));
};
static_assert(detail::lists_every_member<EngineOptions>());

// Compiles a program. All sizes of its inputs must be known. Programs that are given the same
// `arenas` share their working memory.
KERATIN_API Executable compile(Module module, const EngineOptions& options = {},
                               std::shared_ptr<ArenaPool> arenas = nullptr);

}  // namespace keratin
