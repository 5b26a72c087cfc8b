#include "keratin/engine/executable.h"

#include "keratin/backend/cpu/parallel.h"
#include "keratin/base/help_choice.h"
#include "keratin/base/text.h"
#include "keratin/base/thread_pool_scope.h"
#include "keratin/engine/arena_pool.h"
#include "keratin/plan/kept_values.h"
#include "keratin/plan/session.h"
#include "keratin/tensor/resident_copy.h"
#include "keratin/tensor/state_version.h"

namespace keratin {

namespace {

bool fits(const Tensor& tensor, const Type& type) {
  return tensor.dtype() == type.dtype && tensor.shape() == type.shape && tensor.defined();
}

[[noreturn]] void refuse_tensor(const Tensor& tensor, const Type& type, std::string_view role,
                                size_t index, std::string_view name) {
  fail("Executable: ", role, ' ', index, name.empty() ? "" : text(" '", name, "'"), " must be ",
       type.dtype, type.shape, ", got ",
       tensor.defined() ? text(tensor.dtype(), tensor.shape()) : "an empty tensor");
}

}  // namespace

struct Executable::Shared {
  Shared(Plan p, bool flush, bool stays, std::shared_ptr<ArenaPool> shared_arenas)
      : plan(std::move(p)),
        flush_denormals(flush),
        state_stays(stays),
        borrows_arenas(Session::may_borrow_arena(plan)),
        shares_arenas(shared_arenas != nullptr),
        arenas(shares_arenas ? std::move(shared_arenas) : std::make_shared<ArenaPool>()) {
    for (const auto& parameter : plan.module.block().parameters())
      inputs.push_back({parameter->type(), parameter->attr<ParameterAttrs>().state});
    for (const Value& result : plan.results()) outputs.push_back(result.type());
  }
  struct Input {
    Type type;
    bool is_state;
  };
  const Plan plan;
  // What a call is checked against, side by side: a program that has not run for a while is in no
  // cache, and its nodes lie far apart.
  std::vector<Input> inputs;
  std::vector<Type> outputs;
  const bool flush_denormals, state_stays;
  const bool borrows_arenas;  // if not, each session has its own
  const bool shares_arenas;
  const std::shared_ptr<ArenaPool> arenas;
  mutable IdlePool<Session> sessions;
  mutable detail::HelpChoice help;
  mutable std::atomic<bool> has_work_to_share = false;

  // Calls work(), a whole run, which may ask threads of the pool for help.
  template <class Work>
  void run(const Work& work) const {
    if (!has_work_to_share.load(std::memory_order_relaxed)) {
      const detail::ThreadPoolScope scope(plan.pool.get());
      work();
      // Queues have threads of their own.
      if (scope.had_work_to_share() && plan.queues.size() == 1) has_work_to_share = true;
      return;
    }
    const auto start = detail::HelpChoice::Clock::now();
    const bool helped = help.asks_for_help(start);
    const detail::ThreadPoolScope scope(plan.pool.get(),
                                        helped ? detail::Help::always : detail::Help::never);
    work();
    const auto end = detail::HelpChoice::Clock::now();
    help.add(helped, end - start, end);
  }
};

// A session and its memory, for one call. They go back to their pools unless the call fails.
class Executable::Borrowed {
 public:
  explicit Borrowed(const Shared& shared) : shared_(shared), session_(shared.sessions.take()) {
    if (!shared.borrows_arenas) {
      if (!session_) session_ = std::make_unique<Session>(shared.plan);
      return;
    }
    if (!session_) session_ = std::make_unique<Session>(shared.plan, Session::BorrowedArena{});
    if (shared.plan.arena_bytes == 0) return;
    arena_ = shared.arenas->take(shared.plan.arena_bytes,
                                 [&](size_t) { return Session::allocate_arena(shared.plan, 0); });
    session_->set_arena(arena_->data());
  }
  Session& session() const { return *session_; }
  void give_back() {
    if (arena_) shared_.arenas->give_back(std::move(arena_));
    shared_.sessions.give_back(std::move(session_));
  }

 private:
  const Shared& shared_;
  std::unique_ptr<Session> session_;
  ArenaPool::Arena arena_;
};

const std::vector<Tensor>& PendingResults::get() const {
  for (const Tensor& result : results_) result.wait();
  return results_;
}

Executable::Executable(Plan plan, bool flush_denormals, bool state_stays,
                       std::shared_ptr<ArenaPool> arenas)
    : shared_(std::make_shared<const Shared>(std::move(plan), flush_denormals, state_stays,
                                             std::move(arenas))) {}

const Plan& Executable::plan() const { return shared_->plan; }
size_t Executable::steps() const { return plan().steps.size(); }
size_t Executable::arena_bytes() const { return plan().arena_bytes; }
double Executable::flops() const { return keratin::flops(plan()); }
std::string Executable::describe() const { return text(plan()); }

size_t Executable::memory_bytes() const {
  const size_t arenas = !shared_->borrows_arenas  ? shared_->sessions.count() * arena_bytes()
                        : !shared_->shares_arenas ? shared_->arenas->bytes()
                                                  : 0;
  return keratin::memory_bytes(plan()) + arenas;
}

void Executable::release_memory() const {
  shared_->sessions.clear();
  if (!shared_->shares_arenas) shared_->arenas->clear();
  if (plan().kept_values) plan().kept_values->release();
}

std::vector<Tensor> Executable::launch(std::span<const Tensor> inputs) const {
  std::vector<Tensor> outputs;
  for (const Type& type : shared_->outputs) outputs.emplace_back(type.dtype, type.shape);
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
  const auto& expected = shared_->inputs;
  require(inputs.size() == expected.size(), "Executable: expected ", expected.size(),
          " inputs, got ", inputs.size());
  require(outputs.size() == shared_->outputs.size(), "Executable: expected ",
          shared_->outputs.size(), " outputs, got ", outputs.size());
  const auto name = [&](size_t input) -> std::string_view {
    return plan().module.block().parameters()[input]->attr<ParameterAttrs>().name;
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!fits(inputs[i], expected[i].type))
      refuse_tensor(inputs[i], expected[i].type, "input", i, name(i));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!fits(outputs[i], shared_->outputs[i]))
      refuse_tensor(outputs[i], shared_->outputs[i], "output", i, "");

  Borrowed borrowed(*shared_);
  Session& session = borrowed.session();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (shared_->state_stays && expected[i].is_state) {
      session.set_state(i, inputs[i]);
    } else {
      copy_to_host(inputs[i].raw());  // a program may have left newer bytes on a device
      session.set_input(i, inputs[i].raw());
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (shared_->state_stays) {
      session.set_result(i, outputs[i]);
    } else {
      session.set_output(i, outputs[i].raw());
    }
  }
  if (shared_->flush_denormals) {
    const cpu::FlushDenormals scope;
    work(session);
  } else {
    work(session);
  }
  borrowed.give_back();
  for (const Update& update : plan().module.updates())
    state_written(inputs[update.state.node().position()].raw());
}

void Executable::run(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const {
  with_session(inputs, outputs,
               [&](const Session& session) { shared_->run([&] { session.launch(); }); });
}

std::vector<Executable::StepTime> Executable::profile(std::span<const Tensor> inputs,
                                                      std::span<const Tensor> outputs,
                                                      int runs) const {
  require(runs > 0, "Executable: profile needs at least one run, got ", runs);
  std::vector<double> seconds(steps(), 0.0);
  with_session(inputs, outputs, [&](const Session& session) {
    const detail::ThreadPoolScope pool(plan().pool.get());
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
