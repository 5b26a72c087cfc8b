#include "keratin/model/model.h"

#include "keratin/base/text.h"
#include "keratin/graph/config.h"
#include "keratin/graph/sequential.h"
#include "keratin/model/predict_layer.h"
#include "keratin/model/program_cache.h"
#include "keratin/model/runner.h"
#include "keratin/train/fit.h"

namespace keratin {
namespace {

std::shared_ptr<ProgramCache> programs_of(const LayerPtr& layer) {
  return std::make_shared<ProgramCache>([layer, runner = current_runner()] {
    return runner != nullptr ? runner->layer_for(layer) : layer;
  });
}

}  // namespace

// What `compile` makes: the trainer and, with steps of the user's, the programs of their predict.
struct Model::Training {
  std::unique_ptr<Trainer> trainer;
  std::shared_ptr<ProgramCache> predict;
};

Model::Model(ModelOptions options) : training_(std::make_shared<Training>()) {
  auto layer = FunctionalLayer::make(std::move(options.inputs), std::move(options.outputs),
                                     LayerOptions{std::move(options.name)});
  layer->set_dialect(options.dialect);
  layer_ = std::move(layer);
  programs_ = programs_of(layer_);
}

Model::Model(LayerPtr layer) : layer_(std::move(layer)), training_(std::make_shared<Training>()) {
  require(layer_ != nullptr, "Model: expected a layer, got a null pointer");
  programs_ = programs_of(layer_);
}

Dialect Model::dialect() const {
  const auto* model = dynamic_cast<const ModelLayer*>(layer_.get());
  return model != nullptr ? model->dialect() : Dialect::keras3;
}

const FunctionalLayer* Model::functional() const {
  if (const auto* sequential = dynamic_cast<const SequentialLayer*>(layer_.get()))
    return sequential->functional();
  return dynamic_cast<const FunctionalLayer*>(layer_.get());
}

const FunctionalLayer& Model::graph() const {
  const FunctionalLayer* graph = functional();
  require(graph != nullptr, "model '", name(),
          "' has no graph yet: it is subclassed, or a Sequential that has not been built");
  return *graph;
}

const std::string& Model::name() const { return layer_->name(); }

std::vector<SymbolicTensor> Model::inputs() const { return graph().inputs(); }
std::vector<SymbolicTensor> Model::outputs() const { return graph().outputs(); }
const Symbols& Model::input() const { return graph().input(); }
const Symbols& Model::output() const { return graph().output(); }

LayerPtr Model::get_layer(const std::string& name) const {
  return detail::find_layer(layers(), name);
}
LayerPtr Model::get_layer(size_t index) const { return detail::find_layer(layers(), index); }

bool Model::trainable() const { return layer_->trainable(); }
void Model::set_trainable(bool trainable) { layer_->set_trainable(trainable); }
std::vector<Variable> Model::weights() const { return layer_->weights(); }
std::vector<Tensor> Model::get_weights() const { return layer_->get_weights(); }
void Model::set_weights(const std::vector<Tensor>& values) { layer_->set_weights(values); }
int64_t Model::count_params() const { return layer_->count_params(); }

Symbols Model::operator()(const Symbols& input, const Keywords& named) const {
  return (*layer_)(input, named);
}

Json Model::get_config() const { return layer_->get_config(); }
std::string Model::to_json(int indent) const { return serialize_layer(*layer_).dump(indent); }

std::vector<LayerPtr> Model::layers() const {
  if (const auto* model = dynamic_cast<const ModelLayer*>(layer_.get())) return model->layers();
  std::vector<LayerPtr> layers;
  for (const Layer::Sublayer& sub : layer_->sublayers()) layers.push_back(sub.layer);
  return layers;
}

std::shared_ptr<const Program> Model::program(const Tree<Tensor>& inputs,
                                              const PredictOptions& options) const {
  return programs_->find(
      arguments_of(inputs),
      {.training = options.training, .dialect = dialect(), .engine = options.engine});
}

ProgramCacheInfo Model::program_cache() const { return programs_->info(); }

void Model::set_program_limits(CacheLimits limits) {
  programs_->set_limits(limits);
  if (training_->predict) training_->predict->set_limits(limits);
  if (compiled()) training_->trainer->set_program_limits(limits);
}

std::vector<Executable::StepTime> Model::profile(const Tree<Tensor>& inputs, int runs,
                                                 const PredictOptions& options) const {
  require(runs > 0, "profile: `runs` must be positive, got ", runs);
  return program(inputs, options)->profile(arguments_of(inputs), runs);
}

RunResult Model::run(const Tree<Tensor>& inputs, const PredictOptions& options) const {
  return program(inputs, options)->run(arguments_of(inputs));
}

void Model::compile() { compile(CompileOptions()); }

void Model::compile(CompileOptions options) {
  const bool own_steps = options.steps != nullptr;
  auto trainer = std::make_unique<Trainer>(programs_->layer(), dialect(), std::move(options));
  trainer->set_program_limits(programs_->limits());
  training_->predict = own_steps ? predict_step_programs(*trainer) : nullptr;
  if (own_steps) training_->predict->set_limits(programs_->limits());
  training_->trainer = std::move(trainer);
}

bool Model::compiled() const { return training_->trainer != nullptr; }
Trainer* Model::trainer_if_compiled() const { return training_->trainer.get(); }
ProgramCache& Model::predict_programs() const {
  return training_->predict ? *training_->predict : *programs_;
}

Trainer& Model::trainer() const {
  require(compiled(), "You must call `compile()` before training or evaluating the model '", name(),
          "'.");
  return *training_->trainer;
}

OptimizerState& Model::optimizer() const { return trainer().optimizer(); }
void Model::reset_metrics() { trainer().reset_metrics(); }
Logs Model::get_metrics_result() const { return trainer().metrics_result(); }
std::vector<std::string> Model::metrics_names() const { return trainer().metrics_names(); }

History Model::fit(const Tree<Tensor>& x, const Tree<Tensor>& y) { return fit(x, y, FitOptions()); }
History Model::fit(const Data& data) { return fit(data, FitOptions()); }
Logs Model::evaluate(const Tree<Tensor>& x, const Tree<Tensor>& y) {
  return evaluate(x, y, EvaluateOptions());
}
Logs Model::evaluate(const Data& data) { return evaluate(data, EvaluateOptions()); }
Logs Model::train_on_batch(const Tree<Tensor>& x, const Tree<Tensor>& y) {
  return train_on_batch(x, y, BatchOptions());
}
Logs Model::test_on_batch(const Tree<Tensor>& x, const Tree<Tensor>& y) {
  return test_on_batch(x, y, BatchOptions());
}

History Model::fit(const Tree<Tensor>& x, const Tree<Tensor>& y, const FitOptions& options) {
  return fit(Batch{x, y}, options);
}

History Model::fit(const Data& data, const FitOptions& options) {
  return keratin::fit(trainer(), fit_data(data, options), options);
}

Logs Model::evaluate(const Tree<Tensor>& x, const Tree<Tensor>& y, const EvaluateOptions& options) {
  return evaluate(Batch{x, y}, options);
}

Logs Model::evaluate(const Data& data, const EvaluateOptions& options) {
  require(options.batch_size > 0, "evaluate: `batch_size` must be positive, got ",
          options.batch_size);
  if (options.sample_weight.is_none())
    return keratin::evaluate(trainer(), data.batches(options.batch_size), options);
  require(
      data.is_rows(),
      "`sample_weight` is not supported with a Dataset or a generator: put the weights into its ",
      "batches");
  const Data weighted = Batch{data.rows().x, data.rows().y, options.sample_weight};
  return keratin::evaluate(trainer(), weighted.batches(options.batch_size), options);
}

Logs Model::train_on_batch(const Tree<Tensor>& x, const Tree<Tensor>& y,
                           const BatchOptions& options) {
  const Batch batch = with_class_weight({x, y, options.sample_weight}, options.class_weight);
  reset_metrics();
  trainer().train(batch);
  return trainer().logs();
}

Logs Model::test_on_batch(const Tree<Tensor>& x, const Tree<Tensor>& y,
                          const BatchOptions& options) {
  const Batch batch = with_class_weight({x, y, options.sample_weight}, options.class_weight);
  reset_metrics();
  trainer().test(batch);
  return trainer().logs();
}

Sequential::Sequential() : Sequential(std::vector<LayerPtr>{}) {}
Sequential::Sequential(std::vector<LayerPtr> layers, const std::string& name)
    : Model(std::make_shared<SequentialLayer>(std::move(layers), LayerOptions{name})) {}
Sequential::Sequential(std::initializer_list<LayerPtr> layers, const std::string& name)
    : Sequential(std::vector<LayerPtr>(layers), name) {}

void Sequential::add(const LayerPtr& layer) { sequential().add(layer); }
void Sequential::add(const SymbolicTensor& input) { sequential().add(input.layer()); }
void Sequential::pop() { sequential().pop(); }
SequentialLayer& Sequential::sequential() { return static_cast<SequentialLayer&>(*layer()); }

}  // namespace keratin
