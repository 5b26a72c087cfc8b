#pragma once

#include <memory>

#include "keratin/graph/layer.h"

namespace keratin {

// Chooses the layer that runs in place of a model's layer: one that runs it on several devices. The
// folder distribute has the implementation. A model keeps the runner with which it was made.
class ModelRunner {
 public:
  virtual ~ModelRunner() = default;
  virtual LayerPtr layer_for(const LayerPtr& model) const = 0;
};
using RunnerPtr = std::shared_ptr<const ModelRunner>;

// The runner of models that this thread makes now: that of its innermost scope, or else that of the
// process. nullptr: models run their own layer.
RunnerPtr current_runner();

// Sets the runner of the process. An error in a RunnerScope, which would hide it.
void set_process_runner(RunnerPtr runner);

// While it lives, models that this thread makes have a runner, whatever that of the process is. It
// must end on the thread that made it; if it does not, it warns and that thread keeps the runner.
class RunnerScope {
 public:
  explicit RunnerScope(RunnerPtr runner);
  ~RunnerScope();
  RunnerScope(const RunnerScope&) = delete;
  RunnerScope& operator=(const RunnerScope&) = delete;
};

}  // namespace keratin
