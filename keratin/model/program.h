#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/engine/compile.h"
#include "keratin/graph/layer.h"

namespace keratin {

class MeasuredSizes;

struct KERATIN_API RunOptions {
  bool training = false;
  Dialect dialect = Dialect::keras3;
  EngineOptions engine = {};

  static constexpr auto fields =
      field_list(field("training", &RunOptions::training), field("dialect", &RunOptions::dialect),
                 field("engine", &RunOptions::engine));
};
static_assert(detail::lists_every_member<RunOptions>());

// The results of a run: the layer's outputs, the mask of each, and the losses that it added.
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

// The outputs of a run, which a device may still be computing.
class KERATIN_API PendingOutputs {
 public:
  PendingOutputs(PendingResults results, Tree<size_t> outputs)
      : results_(std::move(results)), outputs_(std::move(outputs)) {}
  // Waits until they are computed.
  Tree<Tensor> get() const;

 private:
  PendingResults results_;
  Tree<size_t> outputs_;  // the index of each among the results
};

// A layer or model compiled for arguments of certain shapes. Immutable: any number of threads may
// run it at the same time; state is updated in place.
class KERATIN_API Program {
 public:
  // Programs that are given the same `arenas` share their working memory.
  Program(Layer& layer, const Arguments<MaskedTensor>& arguments, const RunOptions& options,
          std::shared_ptr<ArenaPool> arenas = nullptr);

  RunResult run(const Arguments<MaskedTensor>& arguments) const;
  // The outputs alone, without waiting for a GPU.
  PendingOutputs start(const Arguments<MaskedTensor>& arguments) const;
  // Runs it several times, and measures each step of the plan.
  std::vector<Executable::StepTime> profile(const Arguments<MaskedTensor>& arguments,
                                            int runs) const;
  const Executable& executable() const { return *executable_; }
  // The sizes that depend on strings among the arguments.
  const MeasuredSizes& measured_sizes() const { return *measured_; }

 private:
  std::vector<Tensor> all_inputs(const Arguments<MaskedTensor>& arguments) const;

  std::optional<Executable> executable_;
  std::vector<Tensor> variables_;  // their host memory; newer bytes may be resident on a GPU
  Tree<size_t> outputs_;           // the index of each output among the results
  std::vector<std::optional<size_t>> masks_;
  size_t first_loss_ = 0, result_count_ = 0;
  std::shared_ptr<const MeasuredSizes> measured_;
};

// The contents of a model's cache of programs, and its hits and misses since the model was made.
struct ProgramCacheInfo {
  size_t entries = 0;
  size_t bytes = 0;  // roughly, with the working memory between calls
  uint64_t hits = 0;
  uint64_t misses = 0;  // programs that were compiled
};

// Runs a layer on data once; builds it if need be.
KERATIN_API RunResult run_layer(Layer& layer, const Arguments<MaskedTensor>& arguments,
                                const RunOptions& options = {});

}  // namespace keratin
