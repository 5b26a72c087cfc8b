#include "keratin/plan/queues.h"

#include "keratin/base/processors.h"
#include "keratin/base/spin.h"
#include "keratin/base/thread_pool_scope.h"
#include "keratin/plan/staging.h"

namespace keratin {
namespace {

// Waits for a value to change. Most waits are short, so a thread that may spin sleeps only later.
template <class T>
void wait_while(const std::atomic<T>& value, T old, bool may_spin) {
  const auto changed = [&] { return value.load(std::memory_order_acquire) != old; };
  if (may_spin && detail::spin_until(changed)) return;
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

Session::Queues::Queues(const Plan& plan, const std::vector<Launch>& launches, Staging* staging)
    : plan_(plan),
      launches_(launches),
      staging_(staging),
      queues_(new Queue[plan.queues.size()]),
      // With fewer processors than queues, a spinning thread keeps others from running.
      may_spin_(plan.queues.size() <= static_cast<size_t>(available_processors())) {
  for (size_t q = 1; q < plan.queues.size(); ++q) threads_.emplace_back([this, q] { serve(q); });
}

Session::Queues::~Queues() {
  ends_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Session::Queues::serve(size_t queue) {
  const detail::ThreadPoolScope pool(plan_.pool.get());
  for (uint32_t seen = 0;;) {
    wait_while(round_, seen, may_spin_);
    seen = round_.load(std::memory_order_acquire);
    if (ends_) return;
    std::fesetenv(&environment_);
    run_queue(queue);
    if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) working_.notify_one();
  }
}

void Session::Queues::run() {
  for (size_t q = 0; q < plan_.queues.size(); ++q) {
    queues_[q].finished.store(0, std::memory_order_relaxed);
    queues_[q].error = nullptr;
  }
  failed_.store(false, std::memory_order_relaxed);
  std::fegetenv(&environment_);
  working_.store(static_cast<uint32_t>(threads_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  run_queue(0);
  for (uint32_t left; (left = working_.load(std::memory_order_acquire)) != 0;)
    wait_while(working_, left, may_spin_);
  const Queue* first = nullptr;
  for (size_t q = 0; q < plan_.queues.size(); ++q)
    if (queues_[q].error && (first == nullptr || queues_[q].failed < first->failed))
      first = &queues_[q];
  if (first != nullptr) rethrow(plan_, plan_.steps[first->failed], first->error);
}

void Session::Queues::run_queue(size_t queue) {
  Queue& mine = queues_[queue];
  const std::vector<size_t>& steps = plan_.queues[queue].steps;
  DeviceQueue* device = staging_ != nullptr ? staging_->device(queue) : nullptr;
  const auto finish = [&mine](uint32_t done) {
    mine.finished.store(done, std::memory_order_release);
    mine.finished.notify_all();
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const PlanStep& step = plan_.steps[steps[i]];
    for (const Wait& wait : step.waits) wait_for(wait);
    if (failed_.load(std::memory_order_relaxed)) return finish(stopped);
    try {
      if (device != nullptr) device->enter();
      launches_[steps[i]]();
      if (device != nullptr && (step.signals || i + 1 == steps.size())) device->finish();
    } catch (...) {
      mine.error = std::current_exception();
      mine.failed = steps[i];
      failed_.store(true, std::memory_order_relaxed);
      return finish(stopped);
    }
    if (step.signals) finish(static_cast<uint32_t>(i + 1));
  }
}

void Session::Queues::wait_for(const Wait& wait) const {
  const std::atomic<uint32_t>& finished = queues_[wait.queue].finished;
  uint32_t now;
  while ((now = finished.load(std::memory_order_acquire)) < wait.steps)
    wait_while(finished, now, may_spin_);
}

}  // namespace keratin
