#include "keratin/train/trainer.h"

#include <algorithm>
#include <map>

#include "keratin/base/lru_cache.h"
#include "keratin/base/text.h"
#include "keratin/graph/measured_sizes.h"
#include "keratin/graph/tracer.h"
#include "keratin/ir/node.h"
#include "keratin/tensor/resident_copy.h"
#include "keratin/train/callback.h"
#include "keratin/train/loss_tracker.h"

namespace keratin {
namespace {

bool computes_in_half(const Layer& layer) {
  if (layer.dtype_policy().name() == "mixed_float16") return true;
  const auto sublayers = layer.sublayers();
  return std::any_of(sublayers.begin(), sublayers.end(),
                     [](const Layer::Sublayer& sub) { return computes_in_half(*sub.layer); });
}

}  // namespace

// A compiled step, its inputs and its results.
struct Trainer::Step {
  StepKey key;
  std::optional<Executable> executable;
  std::vector<Tensor> inputs;  // the batch's, then the variables'
  std::vector<Tensor> results;
  std::vector<std::string> names;
  MeasuredSizes measured;
};

struct Trainer::Steps {
  struct Memory {
    static size_t bytes(const Step& step) { return step.executable->memory_bytes(); }
    static void shrink(const Step& step) { step.executable->release_memory(); }
  };
  detail::LruCache<StepKey, Step, Memory> known;
  std::map<std::string, MeasuredSizes> measured;  // of the last step of each structure
};

std::vector<int64_t> Trainer::sizes_of(const std::string& structure, const Batch& batch) const {
  const auto found = steps_->measured.find(structure);
  if (found == steps_->measured.end() || found->second.empty()) return {};
  std::vector<Tensor> inputs;
  batch.each([&](const Tensor& t) { inputs.push_back(t); });
  return found->second.of(inputs);
}

Trainer::StepKey Trainer::key_of(const Batch& batch, bool training) const {
  static_assert(detail::lists_every_member<StepKey>());
  StepKey key{.training = training, .moves = Variable::moves()};
  for (const Tree<Tensor>* tree : {&batch.x, &batch.y, &batch.sample_weight})
    key.structure += tree->is_leaf() ? "*" : tree->outline();
  batch.each([&](const Tensor& t) {
    key.dtypes.push_back(t.dtype());
    key.shapes.push_back(t.shape());
  });
  key.sizes = sizes_of(key.structure, batch);
  return key;
}

Trainer::Trainer(LayerPtr model, Dialect dialect, CompileOptions options)
    : model_(std::move(model)),
      dialect_(dialect),
      options_(std::move(options)),
      loss_tracker_(std::make_shared<LossTracker>("loss")),
      steps_(std::make_unique<Steps>()) {
  require(options_.steps_per_execution >= 1,
          "compile: `steps_per_execution` must be at least 1, got ", options_.steps_per_execution);
  if (options_.auto_scale_loss && computes_in_half(*model_))
    options_.optimizer = detail::with_scaled_loss(options_.optimizer);
}

Tree<Traced> Trainer::write_predict(Tracer& tracer, const Tree<Value>& x) {
  ModelSteps keras;
  ModelSteps& steps = options_.steps != nullptr ? *options_.steps : keras;
  int64_t samples = 0;
  x.each([&](Value v) {
    if (samples == 0 && v.rank() > 0) samples = v.shape()[0];
  });
  StepBuilder builder(*this, tracer, {x}, samples);
  return steps.predict_step(builder);
}

std::unique_ptr<Trainer::Step> Trainer::trace(const Batch& batch, bool training) {
  require(batch.size() > 0, "model '", model_->name(), "': the batch is empty");
  auto step = std::make_unique<Step>();

  Shapes shapes;
  batch.x.each([&](const Tensor& t) {
    Dims dims = t.shape().dims();
    if (!dims.empty()) dims[0] = unknown;
    shapes.emplace_back(dims);
  });
  // Steps of the user may call the model on something else than the batch.
  if (options_.steps == nullptr) model_->ensure_built(shapes);

  Module module;
  Tracer tracer(module, training, dialect_);
  const auto declare = [&](const Tree<Tensor>& tree, const char* kind) {
    size_t i = 0;
    return tree.map<Value>([&](const Tensor& t) {
      step->inputs.push_back(t);
      const Value value = module.input({t.dtype(), t.shape()}, text(kind, i++));
      if (t.dtype() == DType::string) tracer.give_data(value, t);
      return value;
    });
  };
  // In the order of the batch, before any state.
  StepBatch values{.x = declare(batch.x, "x")};
  values.y = declare(batch.y, "y");
  values.sample_weight = declare(batch.sample_weight, "sample_weight");
  StepBuilder builder(*this, tracer, std::move(values), batch.size());
  ModelSteps keras;
  ModelSteps& steps = options_.steps != nullptr ? *options_.steps : keras;
  const ValueLogs logs = training ? steps.train_step(builder) : steps.test_step(builder);
  for (const auto& [name, value] : logs) {
    require(value.defined() && value.rank() == 0, training ? "train_step" : "test_step", ": '",
            name, "' must be a scalar, got ",
            value.defined() ? text(value.type()) : "an undefined value");
    module.output(value);
    step->names.push_back(name);
    step->results.push_back(Tensor::zeros(value.dtype(), {}));
  }
  step->measured = MeasuredSizes(tracer);
  tracer.finish();
  for (const Variable& v : tracer.variables()) step->inputs.push_back(v.value());
  find_own_state(tracer.variables());
  EngineOptions engine = options_.engine;
  engine.state_stays = true;  // all state belongs to variables
  step->executable.emplace(compile(std::move(module), engine));
  return step;
}

Trainer::~Trainer() = default;

Trainer::Step& Trainer::find(const Batch& batch, bool training) {
  StepKey key = key_of(batch, training);
  if (last_ != nullptr && detail::equal_fields(last_->key, key)) return *last_;
  if (auto known = steps_->known.find(key)) return *(last_ = std::move(known));
  std::shared_ptr<Step> step = trace(batch, training);
  // The first call builds layers and makes the optimizer's variables.
  key.moves = Variable::moves();
  steps_->measured[key.structure] = step->measured;
  key.sizes = sizes_of(key.structure, batch);
  step->key = key;
  steps_->known.erase_if([&](const Step& old) { return old.key.moves != key.moves; });
  steps_->known.insert(std::move(key), step);
  return *(last_ = std::move(step));
}

void Trainer::set_program_limits(CacheLimits limits) { steps_->known.set_limits(limits); }

Trainer::Step& Trainer::step_for(const Batch& batch, bool training) {
  Step& step = find(batch, training);
  size_t i = 0;
  batch.each([&](const Tensor& t) { step.inputs[i++] = t; });
  return step;
}

void Trainer::run(const Batch& batch, bool training) {
  Step& step = step_for(batch, training);
  step.executable->run(step.inputs, step.results);
}

std::vector<Executable::StepTime> Trainer::profile(const Batch& batch, int runs) {
  Step& step = step_for(batch, true);
  return step.executable->profile(step.inputs, step.results, runs);
}

Executable Trainer::program(const Batch& batch) { return *find(batch, true).executable; }

void Trainer::train(const Batch& batch) { run(batch, true); }
void Trainer::test(const Batch& batch) { run(batch, false); }
void Trainer::build(const Batch& batch) { find(batch, true); }

Logs Trainer::logs() const {
  Logs logs;
  if (last_ != nullptr)
    for (size_t i = 0; i < last_->names.size(); ++i) {
      copy_to_host(last_->results[i].raw());  // a GPU may still be at work
      logs[last_->names[i]] = last_->results[i].at(0);
    }
  return logs;
}

}  // namespace keratin
