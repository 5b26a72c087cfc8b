#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "keratin/base/cache_limits.h"
#include "keratin/base/export.h"
#include "keratin/engine/compile.h"
#include "keratin/graph/symbolic.h"
#include "keratin/tensor/tensor.h"

// Models, as light as a header can be: what trains them is in keratin/train, what they are made of
// in keratin/graph and keratin/layers; keratin.h has it all.
namespace keratin {

class Callback;
class Data;
class FunctionalLayer;
class OptimizerState;
class Program;
class ProgramCache;
class SequentialLayer;
class Trainer;
class Variable;
struct BatchOptions;
struct CompileOptions;
struct EvaluateOptions;
struct FitOptions;
struct History;
struct ProgramCacheInfo;
struct RunResult;
using Logs = std::map<std::string, double>;

struct ModelOptions {
  Symbols inputs;
  Symbols outputs;
  std::string name = {};
  Dialect dialect = Dialect::keras3;
};

struct PredictOptions {
  int64_t batch_size = 32;            // of the batches that `predict` runs
  std::optional<int64_t> steps = {};  // number of batches; by default, all
  bool training = false;
  EngineOptions engine = {};
  std::vector<std::shared_ptr<Callback>> callbacks = {};  // of `predict`
};

struct SaveOptions {
  bool overwrite = true;
  // The format of bytes and streams: "keras", or "h5" for the legacy one. A path has a suffix.
  std::string stream_format = "keras";
};

struct SaveWeightsOptions {
  bool overwrite = true;
  // The largest size of a shard of .weights.json, in GiB; 5 by default.
  std::optional<double> max_shard_size = {};
};

struct LoadWeightsOptions {
  bool skip_mismatch = false;  // warn of layers that do not fit, and do not change them
  bool by_name = false;        // match layers by name, in legacy .h5 files
};

// A model: a graph of layers, a sequence of layers, or a layer of the user's. Copies refer to the
// same model. A model can be called like a layer, as part of another model.
class KERATIN_API Model {
 public:
  explicit Model(ModelOptions options);
  explicit Model(LayerPtr layer);

  const std::string& name() const;
  const LayerPtr& layer() const { return layer_; }
  operator LayerPtr() const { return layer_; }  // NOLINT(google-explicit-constructor)
  Dialect dialect() const;

  // The graph of a functional model or of a built Sequential; null for other models.
  const FunctionalLayer* functional() const;
  const FunctionalLayer& graph() const;  // the same; an error if there is none
  std::vector<SymbolicTensor> inputs() const;
  std::vector<SymbolicTensor> outputs() const;
  const Symbols& input() const;
  const Symbols& output() const;

  std::vector<LayerPtr> layers() const;
  LayerPtr get_layer(const std::string& name) const;
  LayerPtr get_layer(size_t index) const;

  bool trainable() const;
  void set_trainable(bool trainable);
  std::vector<Variable> weights() const;
  std::vector<Tensor> get_weights() const;
  void set_weights(const std::vector<Tensor>& values);
  int64_t count_params() const;

  Symbols operator()(const Symbols& input, const Keywords& named = {}) const;

  // Runs the model on data, batch by batch. Any number of threads may call it.
  Tree<Tensor> predict(const Tree<Tensor>& inputs, const PredictOptions& options = {}) const;
  // Runs the model on batches from a Dataset or a generator; targets are ignored.
  Tree<Tensor> predict(const Data& data, const PredictOptions& options = {}) const;
  Tree<Tensor> predict_on_batch(const Tree<Tensor>& inputs,
                                const PredictOptions& options = {}) const;
  // The program that runs such a batch, with its plan and costs. It is compiled on first use.
  std::shared_ptr<const Program> program(const Tree<Tensor>& inputs,
                                         const PredictOptions& options = {}) const;
  // Limits the number and the total size of the programs that are cached, by the shapes of inputs.
  // The limits hold for training steps too.
  void set_program_limits(CacheLimits limits);
  ProgramCacheInfo program_cache() const;
  // Runs a batch several times, and returns the time of each step of the plan.
  std::vector<Executable::StepTime> profile(const Tree<Tensor>& inputs, int runs = 10,
                                            const PredictOptions& options = {}) const;
  // Runs one batch. The result has the masks of the outputs and the losses that layers added too.
  RunResult run(const Tree<Tensor>& inputs, const PredictOptions& options = {}) const;

  // Training as in Keras: `compile` first, then `fit`. A call that fails does not change the model.
  // Compiling again makes a new optimizer.
  void compile();
  void compile(CompileOptions options);
  History fit(const Tree<Tensor>& x, const Tree<Tensor>& y);
  History fit(const Tree<Tensor>& x, const Tree<Tensor>& y, const FitOptions& options);
  History fit(const Data& data);
  History fit(const Data& data, const FitOptions& options);
  Logs evaluate(const Tree<Tensor>& x, const Tree<Tensor>& y);
  Logs evaluate(const Tree<Tensor>& x, const Tree<Tensor>& y, const EvaluateOptions& options);
  Logs evaluate(const Data& data);
  Logs evaluate(const Data& data, const EvaluateOptions& options);
  // Trains on one batch. Returns the metrics of that batch: they are reset before it.
  Logs train_on_batch(const Tree<Tensor>& x, const Tree<Tensor>& y);
  Logs train_on_batch(const Tree<Tensor>& x, const Tree<Tensor>& y, const BatchOptions& options);
  Logs test_on_batch(const Tree<Tensor>& x, const Tree<Tensor>& y);
  Logs test_on_batch(const Tree<Tensor>& x, const Tree<Tensor>& y, const BatchOptions& options);
  void reset_metrics();
  // The metrics since they were last reset, and Keras's names of the objects that hold them.
  Logs get_metrics_result() const;
  std::vector<std::string> metrics_names() const;
  bool compiled() const;
  Trainer& trainer() const;  // an error if the model is not compiled
  OptimizerState& optimizer() const;

  // All variables, as Keras nests them by their paths: a dict with trainable_variables,
  // non_trainable_variables, optimizer_variables and metrics_variables. The last two are empty if
  // the model is not compiled. The tensors are copies.
  Tree<Tensor> get_state_tree() const;
  // Assigns the variables that the tree has. A tree that does not fit changes nothing.
  void set_state_tree(const Tree<Tensor>& state);

  // Saves the whole model: config, weights and, if compiled, the training config and the
  // optimizer's state. The suffix is .keras, .h5 for Keras 3's legacy format, or / for a folder
  // with the members of a .keras. Files appear whole or not at all. `load_model` is in saving.h.
  void save(const std::filesystem::path& path, const SaveOptions& options = {}) const;
  // The same to a stream, or as bytes. `load_model` takes both.
  void save(std::ostream& out, const SaveOptions& options = {}) const;
  std::vector<std::byte> to_bytes(const SaveOptions& options = {}) const;
  // Saves weights alone, with the optimizer's state if there is some: .weights.h5, .weights.json
  // (in several files), .npz or .safetensors.
  void save_weights(const std::filesystem::path& path,
                    const SaveWeightsOptions& options = {}) const;
  // Loads weights. A file that does not fit changes nothing.
  void load_weights(const std::filesystem::path& path, const LoadWeightsOptions& options = {});

  Json get_config() const;
  // Keras's envelope of the whole model, as JSON.
  std::string to_json(int indent = -1) const;

 private:
  struct Training;
  Trainer* trainer_if_compiled() const;
  ProgramCache& predict_programs() const;

  LayerPtr layer_;
  std::shared_ptr<ProgramCache> programs_;
  std::shared_ptr<Training> training_;  // shared by copies, which are the same model
};

// A sequence of layers.
class KERATIN_API Sequential : public Model {
 public:
  Sequential();
  Sequential(std::vector<LayerPtr> layers, const std::string& name = {});  // NOLINT
  Sequential(std::initializer_list<LayerPtr> layers, const std::string& name = {});

  void add(const LayerPtr& layer);
  // Adds an input for the layers after it: add(Input({28, 28})).
  void add(const SymbolicTensor& input);
  void pop();

 private:
  SequentialLayer& sequential();
};

}  // namespace keratin
