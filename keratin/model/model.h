#pragma once

#include <filesystem>

#include "keratin/base/export.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/sequential.h"
#include "keratin/model/program.h"
#include "keratin/train/callback.h"

namespace keratin {

struct ModelOptions {
  Symbols inputs;
  Symbols outputs;
  std::string name = {};
  Dialect dialect = Dialect::keras3;
};

struct PredictOptions {
  int64_t batch_size = 32;            // for `predict`, which takes any number of samples
  std::optional<int64_t> steps = {};  // batches to take; all of them by default
  bool training = false;
  EngineOptions engine = {};
};

struct SaveOptions {
  bool overwrite = true;
};

struct SaveWeightsOptions {
  bool overwrite = true;
  // In GiB: .weights.json is written with files of at most this size beside it; 5 unless given.
  std::optional<double> max_shard_size = {};
};

struct LoadWeightsOptions {
  bool skip_mismatch = false;  // warn of layers that do not fit, and leave them as they are
  bool by_name = false;        // pair layers by name, in legacy .h5 files
};

// A model: a graph of layers, a sequence of layers, or a layer of the user's. Copies are the same
// model. It can be called like a layer, to be part of another.
class KERATIN_API Model {
 public:
  explicit Model(ModelOptions options);
  explicit Model(LayerPtr layer);

  const std::string& name() const { return layer_->name(); }
  const LayerPtr& layer() const { return layer_; }
  operator LayerPtr() const { return layer_; }  // NOLINT(google-explicit-constructor)
  Dialect dialect() const;

  // The graph, where there is one: a functional model's, or that of a built Sequential.
  const FunctionalLayer* functional() const;
  const FunctionalLayer& graph() const;  // or an error
  std::vector<SymbolicTensor> inputs() const { return graph().inputs(); }
  std::vector<SymbolicTensor> outputs() const { return graph().outputs(); }
  const Symbols& input() const { return graph().input(); }
  const Symbols& output() const { return graph().output(); }

  std::vector<LayerPtr> layers() const;
  LayerPtr get_layer(const std::string& name) const { return find_layer(layers(), name); }
  LayerPtr get_layer(size_t index) const { return find_layer(layers(), index); }

  bool trainable() const { return layer_->trainable(); }
  void set_trainable(bool trainable) { layer_->set_trainable(trainable); }
  std::vector<Variable> weights() const { return layer_->weights(); }
  std::vector<Tensor> get_weights() const { return layer_->get_weights(); }
  void set_weights(const std::vector<Tensor>& values) { layer_->set_weights(values); }
  int64_t count_params() const { return layer_->count_params(); }

  Symbols operator()(const Symbols& input, const Keywords& named = {}) const {
    return (*layer_)(input, named);
  }

  // Runs the model on data, batch by batch. Safe from any number of threads.
  Tree<Tensor> predict(const Tree<Tensor>& inputs, const PredictOptions& options = {}) const;
  // The inputs of batches from a Dataset or a generator; targets are not looked at.
  Tree<Tensor> predict(const Data& data, const PredictOptions& options = {}) const;
  Tree<Tensor> predict_on_batch(const Tree<Tensor>& inputs,
                                const PredictOptions& options = {}) const {
    return run(inputs, options).outputs;
  }
  // What runs such a batch: its plan and costs. Made when first asked for.
  std::shared_ptr<const Program> program(const Tree<Tensor>& inputs,
                                         const PredictOptions& options = {}) const;
  // Programs are kept for the shapes that were seen last: how many, and how large together. The
  // limits hold for training steps too.
  void set_program_limits(CacheLimits limits);
  ProgramCacheInfo program_cache() const { return programs_->info(); }
  // Runs a batch several times, and says where the time went, step by step of the plan.
  std::vector<Executable::StepTime> profile(const Tree<Tensor>& inputs, int runs = 10,
                                            const PredictOptions& options = {}) const;
  // One batch, with the masks of the outputs and the losses that layers added.
  RunResult run(const Tree<Tensor>& inputs, const PredictOptions& options = {}) const;

  // Training, as in Keras: says how first, then trains. A call that fails leaves the model as it
  // was. Compiling again starts with a new optimizer.
  void compile(CompileOptions options = {});
  History fit(const Tree<Tensor>& x, const Tree<Tensor>& y, const FitOptions& options = {});
  History fit(const Data& data, const FitOptions& options = {});
  Logs evaluate(const Tree<Tensor>& x, const Tree<Tensor>& y, const EvaluateOptions& options = {});
  Logs evaluate(const Data& data, const EvaluateOptions& options = {});
  // One step; what the metrics say since they were last reset.
  Logs train_on_batch(const Tree<Tensor>& x, const Tree<Tensor>& y,
                      const BatchOptions& options = {});
  Logs test_on_batch(const Tree<Tensor>& x, const Tree<Tensor>& y,
                     const BatchOptions& options = {});
  void reset_metrics() { trainer().reset_metrics(); }
  bool compiled() const { return *trainer_ != nullptr; }
  Trainer& trainer() const;  // or an error: the model was not compiled
  OptimizerState& optimizer() const { return trainer().optimizer(); }

  // Files, by Keras's suffixes; see saving.h for `load_model`. They appear whole or not at all.
  // The whole model: config, weights, and, once compiled, how it is trained. A .keras file,
  // a folder of its parts where the path ends in /, or Keras 3's legacy .h5.
  void save(const std::filesystem::path& path, const SaveOptions& options = {}) const;
  // Weights alone, the optimizer's too once it has some: .weights.h5, .weights.json (in several
  // files), .npz or .safetensors.
  void save_weights(const std::filesystem::path& path,
                    const SaveWeightsOptions& options = {}) const;
  // All or nothing: a file that does not fit changes nothing.
  void load_weights(const std::filesystem::path& path, const LoadWeightsOptions& options = {});

  Json get_config() const { return layer_->get_config(); }
  // Keras's envelope of the whole model, as text.
  std::string to_json(int indent = -1) const { return serialize_layer(*layer_).dump(indent); }

 private:
  LayerPtr layer_;
  std::shared_ptr<ProgramCache> programs_;
  // Copies are the same model, compiled together.
  std::shared_ptr<std::unique_ptr<Trainer>> trainer_ = std::make_shared<std::unique_ptr<Trainer>>();
};

// Layers in a row.
class KERATIN_API Sequential : public Model {
 public:
  Sequential() : Sequential(std::vector<LayerPtr>{}) {}
  Sequential(std::vector<LayerPtr> layers, const std::string& name = {})  // NOLINT
      : Model(std::make_shared<SequentialLayer>(std::move(layers), LayerOptions{name})) {}
  Sequential(std::initializer_list<LayerPtr> layers, const std::string& name = {})
      : Sequential(std::vector<LayerPtr>(layers), name) {}

  void add(const LayerPtr& layer) { sequential().add(layer); }
  // An input for what follows: add(Input({28, 28})).
  void add(const SymbolicTensor& input) { sequential().add(input.layer()); }
  void pop() { sequential().pop(); }

 private:
  SequentialLayer& sequential() { return static_cast<SequentialLayer&>(*layer()); }
};

}  // namespace keratin
