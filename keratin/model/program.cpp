#include "keratin/model/program.h"

#include "keratin/base/text.h"
#include "keratin/graph/bind_arguments.h"
#include "keratin/graph/measured_sizes.h"
#include "keratin/graph/tracer.h"
#include "keratin/model/program_cache.h"

namespace keratin {
namespace {

Shapes positional_shapes(const Arguments<MaskedTensor>& arguments) {
  Shapes shapes;
  for (const auto& tree : arguments.positional)
    tree.each([&](const MaskedTensor& t) {
      // A model that is built by its first batch must accept batches of other sizes.
      Dims dims = t.value.shape().dims();
      if (!dims.empty()) dims[0] = unknown;
      shapes.emplace_back(dims);
    });
  return shapes;
}

ProgramKey key_of(const Arguments<MaskedTensor>& arguments, const RunOptions& options) {
  ProgramKey key{.options = options};
  const auto add = [&](const Tree<MaskedTensor>& tree) {
    key.structure += tree.is_leaf() ? "*" : tree.outline();
    tree.each([&](const MaskedTensor& t) {
      ArgumentType& type = key.types.emplace_back();
      type.dtype = t.value.dtype();
      type.shape = t.value.shape();
      type.masked = t.mask.has_value();
      if (!t.mask) return;
      type.mask_dtype = t.mask->dtype();
      type.mask_shape = t.mask->shape();
    });
  };
  for (const auto& tree : arguments.positional) add(tree);
  for (const auto& [name, tree] : arguments.named) {
    key.structure += text(name.size(), ':', name);
    add(tree);
  }
  return key;
}

// In the order of a program's inputs.
std::vector<Tensor> tensors_of(const Arguments<MaskedTensor>& arguments) {
  std::vector<Tensor> inputs;
  arguments.each([&](const MaskedTensor& t) {
    inputs.push_back(t.value);
    if (t.mask) inputs.push_back(*t.mask);
  });
  return inputs;
}

}  // namespace

Program::Program(Layer& layer, const Arguments<MaskedTensor>& arguments, const RunOptions& options,
                 std::shared_ptr<ArenaPool> arenas) {
  layer.ensure_built(positional_shapes(bind_arguments(layer, arguments)));
  Module module;
  Tracer tracer(module, options.training, options.dialect);
  size_t next = 0;
  const auto parameter = [&](const Tensor& t, const char* kind) {
    const Value input = module.input({t.dtype(), t.shape()}, text(kind, next++));
    if (t.dtype() == DType::string) tracer.give_data(input, t);
    return input;
  };
  const auto traced = arguments.map<Traced>([&](const MaskedTensor& t) {
    Traced out{parameter(t.value, "input_")};
    if (t.mask) out.mask = parameter(*t.mask, "mask_");
    return out;
  });
  const Tree<Traced> results = tracer.invoke(layer, traced);
  outputs_ = results.map<size_t>([&](const Traced& t) {
    module.output(t.value);
    return result_count_++;
  });
  results.each([&](const Traced& t) {
    masks_.push_back(t.mask ? std::optional(result_count_) : std::nullopt);
    if (!t.mask) return;
    module.output(*t.mask);
    ++result_count_;
  });
  first_loss_ = result_count_;
  for (const Value loss : tracer.losses()) {
    module.output(loss);
    ++result_count_;
  }
  measured_ = std::make_shared<const MeasuredSizes>(tracer);
  tracer.finish();
  for (const Variable& v : tracer.variables()) variables_.push_back(v.value());
  EngineOptions engine = options.engine;
  engine.state_stays = true;  // all state belongs to variables
  executable_.emplace(compile(std::move(module), engine, std::move(arenas)));
}

std::vector<Tensor> Program::all_inputs(const Arguments<MaskedTensor>& arguments) const {
  std::vector<Tensor> inputs = tensors_of(arguments);
  inputs.insert(inputs.end(), variables_.begin(), variables_.end());
  return inputs;
}

std::vector<Executable::StepTime> Program::profile(const Arguments<MaskedTensor>& arguments,
                                                   int runs) const {
  const std::vector<Tensor> inputs = all_inputs(arguments);
  const std::vector<Tensor> outputs = (*executable_)(inputs);
  return executable_->profile(inputs, outputs, runs);
}

Tree<Tensor> PendingOutputs::get() const {
  const std::vector<Tensor>& results = results_.get();
  return outputs_.map<Tensor>([&](size_t i) { return results[i]; });
}

PendingOutputs Program::start(const Arguments<MaskedTensor>& arguments) const {
  return {executable_->start(all_inputs(arguments)), outputs_};
}

RunResult Program::run(const Arguments<MaskedTensor>& arguments) const {
  const std::vector<Tensor> results = (*executable_)(all_inputs(arguments));
  RunResult out;
  out.outputs = outputs_.map<Tensor>([&](size_t i) { return results[i]; });
  for (const auto& mask : masks_)
    out.masks.push_back(mask ? std::optional(results[*mask]) : std::nullopt);
  out.losses.assign(results.begin() + static_cast<int64_t>(first_loss_), results.end());
  return out;
}

Arguments<MaskedTensor> arguments_of(const Tree<Tensor>& inputs) {
  Arguments<MaskedTensor> arguments;
  arguments.positional.push_back(
      inputs.map<MaskedTensor>([](const Tensor& t) { return MaskedTensor{t}; }));
  return arguments;
}

LayerPtr ProgramCache::layer() {
  const std::lock_guard guard(lock_);
  if (layer_ == nullptr) layer_ = make_layer_();
  return layer_;
}

// Walks the layers only if some layer of the process has changed.
size_t ProgramCache::revision() {
  const LayerPtr runs = layer();
  const uint64_t changes = Layer::changes();
  const std::lock_guard guard(lock_);
  if (changes != changes_) revision_ = runs->revision();
  changes_ = changes;
  return revision_;
}

std::vector<int64_t> ProgramCache::sizes_of(const std::string& structure,
                                            const Arguments<MaskedTensor>& arguments) {
  MeasuredSizes measured;
  {
    const std::lock_guard guard(lock_);
    const auto found = measured_.find(structure);
    if (found == measured_.end()) return {};
    measured = found->second;
  }
  return measured.of(tensors_of(arguments));
}

std::shared_ptr<const Program> ProgramCache::lookup(const ProgramKey& key) {
  const std::lock_guard guard(lock_);
  if (moves_ != key.moves) programs_.clear();  // they hold memory that variables were moved from
  moves_ = key.moves;
  return programs_.find(key);
}

std::shared_ptr<const Program> ProgramCache::find(const Arguments<MaskedTensor>& arguments,
                                                  const RunOptions& options) {
  ProgramKey key = key_of(arguments, options);
  key.revision = revision();
  key.moves = Variable::moves();
  key.sizes = sizes_of(key.structure, arguments);
  // A dump shows the passes at work, so the program is compiled again.
  const bool known = options.engine.dump == nullptr;
  if (known) {
    if (auto program = lookup(key)) {
      ++hits_;
      return program;
    }
  }
  const std::lock_guard guard(compile_lock_);
  if (known) {
    if (auto program = lookup(key)) return program;  // another thread has compiled it
  }
  const LayerPtr runs = layer();
  const auto program = std::make_shared<const Program>(*runs, arguments, options, arenas_);
  ++misses_;
  // The first call builds layers, which changes the revision.
  key.revision = revision();
  key.moves = Variable::moves();
  const std::lock_guard quick(lock_);
  moves_ = key.moves;
  const MeasuredSizes& measured = program->measured_sizes();
  key.sizes = measured.of(tensors_of(arguments));
  if (measured.empty())
    measured_.erase(key.structure);
  else
    measured_[key.structure] = measured;
  if (known) programs_.insert(std::move(key), program);
  return program;
}

void ProgramCache::set_limits(CacheLimits limits) {
  const std::lock_guard guard(lock_);
  programs_.set_limits(limits);
}

CacheLimits ProgramCache::limits() {
  const std::lock_guard guard(lock_);
  return programs_.limits();
}

ProgramCacheInfo ProgramCache::info() {
  const std::lock_guard guard(lock_);
  return {programs_.size(), programs_.bytes() + arenas_->bytes(), hits_, misses_};
}

void ProgramCache::clear() {
  const std::lock_guard guard(lock_);
  programs_.clear();
}

RunResult run_layer(Layer& layer, const Arguments<MaskedTensor>& arguments,
                    const RunOptions& options) {
  return Program(layer, arguments, options).run(arguments);
}

}  // namespace keratin
