#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include "keratin/base/export.h"
#include "keratin/base/lru_cache.h"
#include "keratin/engine/compile.h"
#include "keratin/graph/layer.h"

namespace keratin {

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
  Program(Layer& layer, const Arguments<MaskedTensor>& arguments, const RunOptions& options);

  RunResult run(const Arguments<MaskedTensor>& arguments) const;
  // The outputs alone, without waiting for a GPU.
  PendingOutputs start(const Arguments<MaskedTensor>& arguments) const;
  // Runs it several times, and measures each step of the plan.
  std::vector<Executable::StepTime> profile(const Arguments<MaskedTensor>& arguments,
                                            int runs) const;
  const Executable& executable() const { return *executable_; }

 private:
  std::vector<Tensor> all_inputs(const Arguments<MaskedTensor>& arguments) const;

  std::optional<Executable> executable_;
  std::vector<Tensor> variables_;  // their host memory; newer bytes may be resident on a GPU
  Tree<size_t> outputs_;           // the index of each output among the results
  std::vector<std::optional<size_t>> masks_;
  size_t first_loss_ = 0, result_count_ = 0;
};

// The type of an argument that a program was compiled for.
struct KERATIN_API ArgumentType {
  DType dtype = DType::f32;
  Shape shape;
  bool masked = false;
  DType mask_dtype = DType::boolean;
  Shape mask_shape;

  static constexpr auto fields = field_list(
      field("dtype", &ArgumentType::dtype), field("shape", &ArgumentType::shape),
      field("masked", &ArgumentType::masked), field("mask_dtype", &ArgumentType::mask_dtype),
      field("mask_shape", &ArgumentType::mask_shape));
  bool operator==(const ArgumentType&) const = default;
};
static_assert(detail::lists_every_member<ArgumentType>());

// Everything that a program depends on.
struct KERATIN_API ProgramKey {
  size_t revision = 0;  // of the layer
  uint64_t moves = 0;   // of variables: a program holds their memory
  RunOptions options = {};
  std::string structure = {};  // of the arguments, with their names and constants
  std::vector<ArgumentType> types = {};

  static constexpr auto fields =
      field_list(field("revision", &ProgramKey::revision), field("moves", &ProgramKey::moves),
                 field("options", &ProgramKey::options), field("structure", &ProgramKey::structure),
                 field("types", &ProgramKey::types));
};
static_assert(detail::lists_every_member<ProgramKey>());

// The contents of a model's cache of programs, and its hits and misses since the model was made.
struct ProgramCacheInfo {
  size_t entries = 0;
  size_t bytes = 0;  // roughly
  uint64_t hits = 0;
  uint64_t misses = 0;  // programs that were compiled
};

// The programs of a model, by their keys. Programs that were not used for longest are evicted. A
// call that finds its program never waits for another one that is being compiled.
class KERATIN_API ProgramCache {
 public:
  // `make_layer` is called once, when the first program is made.
  explicit ProgramCache(std::function<LayerPtr()> make_layer)
      : make_layer_(std::move(make_layer)) {}

  std::shared_ptr<const Program> find(const Arguments<MaskedTensor>& arguments,
                                      const RunOptions& options);
  LayerPtr layer();
  void set_limits(CacheLimits limits);
  CacheLimits limits();
  ProgramCacheInfo info();
  void clear();

 private:
  size_t revision();
  std::shared_ptr<const Program> lookup(const ProgramKey& key);

  std::function<LayerPtr()> make_layer_;
  std::mutex compile_lock_;  // held while a program is compiled
  std::mutex lock_;          // never held for long
  LayerPtr layer_;
  uint64_t changes_ = 0, moves_ = 0;  // Layer::changes() and Variable::moves() of the last call
  size_t revision_ = 0;               // of the layer, after these changes
  std::atomic<uint64_t> hits_ = 0, misses_ = 0;
  struct Memory {
    static size_t bytes(const Program& program) { return program.executable().memory_bytes(); }
    static void shrink(const Program& program) { program.executable().release_memory(); }
  };
  detail::LruCache<ProgramKey, const Program, Memory> programs_;
};

// Runs a layer on data once; builds it if need be.
KERATIN_API RunResult run_layer(Layer& layer, const Arguments<MaskedTensor>& arguments,
                                const RunOptions& options = {});

}  // namespace keratin
