#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "keratin/engine/compile.h"
#include "keratin/graph/layer.h"

#pragma GCC visibility push(default)

namespace keratin {

struct RunOptions {
  bool training = false;
  Dialect dialect = Dialect::keras3;
  CompileOptions compile = {};
};

// What a layer gave: its outputs, the mask of each, and the losses it added.
struct RunResult {
  Tree<Tensor> outputs;
  std::vector<std::optional<Tensor>> masks;
  std::vector<Tensor> losses;
};

// Data and its mask, as an argument of a layer.
struct MaskedTensor {
  Tensor value;
  std::optional<Tensor> mask = {};
};

// One layer (or model) compiled for arguments of certain shapes. Immutable: any number of threads
// may run it at once; state that the layer updates is updated in place.
class Program {
 public:
  Program(Layer& layer, const Arguments<MaskedTensor>& arguments, const RunOptions& options);

  RunResult run(const Arguments<MaskedTensor>& arguments) const;
  // The outputs alone, which may still be on their way; see Executable::start.
  Tree<Tensor> start(const Arguments<MaskedTensor>& arguments) const;
  // Runs it several times, and says what each step of the plan took.
  std::vector<Executable::StepTime> profile(const Arguments<MaskedTensor>& arguments,
                                            int runs) const;
  const Executable& executable() const { return *executable_; }

 private:
  std::vector<Tensor> all_inputs(const Arguments<MaskedTensor>& arguments) const;

  std::optional<Executable> executable_;
  std::vector<Tensor> variables_;  // their memory: the newest bytes may be on a GPU
  Tree<size_t> outputs_;           // where each output is among the results
  std::vector<std::optional<size_t>> masks_;
  size_t first_loss_ = 0, result_count_ = 0;
};

// Programs by the shapes and dtypes they were compiled for.
class ProgramCache {
 public:
  std::shared_ptr<const Program> find(Layer& layer, const Arguments<MaskedTensor>& arguments,
                                      const RunOptions& options);
  void clear();

 private:
  std::mutex lock_;
  uint64_t moves_ = 0;  // Variable::moves() when they were made
  std::unordered_map<std::string, std::shared_ptr<const Program>> programs_;
};

// Runs a layer on data once; builds it if need be.
RunResult run_layer(Layer& layer, const Arguments<MaskedTensor>& arguments,
                    const RunOptions& options = {});

}  // namespace keratin

#pragma GCC visibility pop
