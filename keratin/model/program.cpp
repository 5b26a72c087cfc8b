#include "keratin/model/program.h"

namespace keratin {
namespace {

Shapes positional_shapes(const Arguments<MaskedTensor>& arguments) {
  Shapes shapes;
  for (const auto& tree : arguments.positional)
    tree.each([&](const MaskedTensor& t) {
      // A model built by its first batch must take others: the batch stays open.
      Dims dims = t.value.shape().dims();
      if (!dims.empty()) dims[0] = unknown;
      shapes.emplace_back(dims);
    });
  return shapes;
}

std::string signature(const Arguments<MaskedTensor>& arguments, const RunOptions& options) {
  std::string key =
      text(options.training, static_cast<int>(options.dialect), options.compile.backend,
           options.compile.threads, options.compile.deterministic, options.compile.tf32);
  const auto add = [&](const Tree<MaskedTensor>& tree) {
    key += '|' + tree.outline();
    tree.each([&](const MaskedTensor& t) {
      key += text(';', t.value.dtype(), t.value.shape());
      if (t.mask) key += text('m', t.mask->shape());
    });
  };
  for (const auto& tree : arguments.positional) add(tree);
  for (const auto& [name, tree] : arguments.named) {
    key += '|' + name;
    add(tree);
  }
  return key;
}

}  // namespace

Program::Program(Layer& layer, const Arguments<MaskedTensor>& arguments,
                 const RunOptions& options) {
  layer.ensure_built(positional_shapes(layer.arranged(arguments)));
  Module module;
  Tracer tracer(module, options.training, options.dialect);
  size_t next = 0;
  const auto parameter = [&](const Tensor& t, const char* kind) {
    return module.input({t.dtype(), t.shape()}, text(kind, next++));
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
  tracer.finish();
  for (const Variable& v : tracer.variables()) variables_.push_back(v.value());
  CompileOptions engine = options.compile;
  engine.state_stays = true;  // it is all variables'
  executable_.emplace(compile(std::move(module), engine));
}

std::vector<Tensor> Program::all_inputs(const Arguments<MaskedTensor>& arguments) const {
  std::vector<Tensor> inputs;
  arguments.each([&](const MaskedTensor& t) {
    inputs.push_back(t.value);
    if (t.mask) inputs.push_back(*t.mask);
  });
  inputs.insert(inputs.end(), variables_.begin(), variables_.end());
  return inputs;
}

std::vector<Executable::StepTime> Program::profile(const Arguments<MaskedTensor>& arguments,
                                                   int runs) const {
  const std::vector<Tensor> inputs = all_inputs(arguments);
  const std::vector<Tensor> outputs = (*executable_)(inputs);
  return executable_->profile(inputs, outputs, runs);
}

Tree<Tensor> Program::start(const Arguments<MaskedTensor>& arguments) const {
  const std::vector<Tensor> results = executable_->start(all_inputs(arguments));
  return outputs_.map<Tensor>([&](size_t i) { return results[i]; });
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

std::shared_ptr<const Program> ProgramCache::find(Layer& layer,
                                                  const Arguments<MaskedTensor>& arguments,
                                                  const RunOptions& options) {
  const std::string key = signature(arguments, options);
  const std::lock_guard guard(lock_);
  if (moves_ != Variable::moves()) programs_.clear();
  moves_ = Variable::moves();
  std::shared_ptr<const Program>& program = programs_[key];
  if (program == nullptr) {
    try {
      program = std::make_shared<const Program>(layer, arguments, options);
    } catch (...) {
      programs_.erase(key);
      throw;
    }
  }
  return program;
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
