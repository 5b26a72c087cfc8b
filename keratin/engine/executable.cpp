#include "keratin/engine/executable.h"

#include "keratin/backend/cpu/parallel.h"
#include "keratin/base/text.h"
#include "keratin/base/thread_pool_scope.h"
#include "keratin/engine/session_pool.h"
#include "keratin/tensor/resident_copy.h"

namespace keratin {

namespace {

void check_tensor(const Tensor& tensor, const Type& type, std::string_view role, size_t index,
                  std::string_view name) {
  if (tensor.dtype() == type.dtype && tensor.shape() == type.shape && tensor.defined()) return;
  fail("Executable: ", role, ' ', index, name.empty() ? "" : text(" '", name, "'"), " must be ",
       type.dtype, type.shape, ", got ",
       tensor.defined() ? text(tensor.dtype(), tensor.shape()) : "an empty tensor");
}

}  // namespace

struct Executable::Shared {
  Shared(Plan p, bool flush, bool stays)
      : plan(std::move(p)), flush_denormals(flush), state_stays(stays) {}
  const Plan plan;
  const bool flush_denormals, state_stays;
  mutable SessionPool pool;
};

const std::vector<Tensor>& PendingResults::get() const {
  for (const Tensor& result : results_) result.wait();
  return results_;
}

Executable::Executable(Plan plan, bool flush_denormals, bool state_stays)
    : shared_(std::make_shared<const Shared>(std::move(plan), flush_denormals, state_stays)) {}

const Plan& Executable::plan() const { return shared_->plan; }
size_t Executable::steps() const { return plan().steps.size(); }
size_t Executable::arena_bytes() const { return plan().arena_bytes; }
double Executable::flops() const { return keratin::flops(plan()); }
std::string Executable::describe() const { return text(plan()); }

size_t Executable::memory_bytes() const {
  return keratin::memory_bytes(plan()) + shared_->pool.count() * arena_bytes();
}

void Executable::release_memory() const { shared_->pool.clear(); }

std::vector<Tensor> Executable::launch(std::span<const Tensor> inputs) const {
  std::vector<Tensor> outputs;
  for (const Value& result : plan().results()) outputs.emplace_back(result.dtype(), result.shape());
  run(inputs, outputs);
  // The strings are still those of the inputs or of the program.
  for (Tensor& output : outputs)
    if (output.dtype() == DType::string) output = output.wait().own_strings();
  return outputs;
}

PendingResults Executable::start(std::span<const Tensor> inputs) const {
  return PendingResults(launch(inputs));
}

std::vector<Tensor> Executable::operator()(std::span<const Tensor> inputs) const {
  return start(inputs).get();
}

// Calls work(session) on a session whose addresses are set.
template <class Work>
void Executable::with_session(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                              const Work& work) const {
  const auto& parameters = plan().module.block().parameters();
  require(inputs.size() == parameters.size(), "Executable: expected ", parameters.size(),
          " inputs, got ", inputs.size());
  require(outputs.size() == plan().results().size(), "Executable: expected ",
          plan().results().size(), " outputs, got ", outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    check_tensor(inputs[i], parameters[i]->type(), "input", i,
                 parameters[i]->attr<ParameterAttrs>().name);
  for (size_t i = 0; i < outputs.size(); ++i)
    check_tensor(outputs[i], plan().results()[i].type(), "output", i, "");

  std::unique_ptr<Session> session = shared_->pool.take();
  if (!session) session = std::make_unique<Session>(plan());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (shared_->state_stays && parameters[i]->attr<ParameterAttrs>().state) {
      session->set_state(i, inputs[i]);
    } else {
      copy_to_host(inputs[i].raw());  // a program may have left newer bytes on a device
      session->set_input(i, inputs[i].raw());
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (shared_->state_stays) {
      session->set_result(i, outputs[i]);
    } else {
      session->set_output(i, outputs[i].raw());
    }
  }
  const detail::ThreadPoolScope pool(plan().pool.get());
  if (shared_->flush_denormals) {
    const cpu::FlushDenormals scope;
    work(*session);
  } else {
    work(*session);
  }
  shared_->pool.give_back(std::move(session));
}

void Executable::run(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const {
  with_session(inputs, outputs, [](const Session& session) { session.launch(); });
}

std::vector<Executable::StepTime> Executable::profile(std::span<const Tensor> inputs,
                                                      std::span<const Tensor> outputs,
                                                      int runs) const {
  require(runs > 0, "Executable: profile needs at least one run, got ", runs);
  std::vector<double> seconds(steps(), 0.0);
  with_session(inputs, outputs, [&](const Session& session) {
    for (int i = 0; i < runs; ++i) session.launch_timed(seconds);
  });
  std::vector<StepTime> times;
  for (size_t i = 0; i < seconds.size(); ++i) {
    const PlanStep& step = plan().steps[i];
    times.push_back({text(i < plan().stable_steps ? "once " : "", step.kernel->describe()),
                     seconds[i] * 1e3 / runs, keratin::flops(step)});
  }
  return times;
}

}  // namespace keratin
