#include "keratin/plan/session.h"

#include <chrono>

#include "keratin/base/text.h"
#include "keratin/plan/kept_values.h"
#include "keratin/plan/queues.h"
#include "keratin/plan/staging.h"

namespace keratin {

Session::~Session() = default;

namespace {

// The step whose slots end last in a queue's arena.
const PlanStep* largest_step(const Plan& plan, size_t queue) {
  const PlanStep* found = nullptr;
  size_t max_end = 0;
  for (const PlanStep& step : plan.steps)
    for (const Slot& slot : step.slots)
      if (slot.kind == Slot::Kind::arena && slot.index == queue &&
          slot.offset + slot.bytes > max_end) {
        found = &step;
        max_end = slot.offset + slot.bytes;
      }
  return found;
}

template <class Allocate>
auto allocate_for(const Plan& plan, size_t queue, const Allocate& allocate) {
  try {
    return allocate(plan.queues[queue]);
  } catch (const BackendError& error) {
    const PlanStep* step = largest_step(plan, queue);
    throw BackendError(
        text(error.what(), "; a program needs them for its working memory",
             step == nullptr ? "" : text(", most of all for ", name_of(plan, *step))));
  }
}

}  // namespace

Buffer Session::allocate_arena(const Plan& plan, size_t queue) {
  return allocate_for(plan, queue,
                      [](const Queue& q) { return Buffer::allocate(q.arena_bytes, q.device); });
}

bool Session::may_borrow_arena(const Plan& plan) {
  const bool keeps_in_arena = plan.stable_steps > 0 && !plan.keeps_values;
  return plan.queues.size() == 1 && !keeps_in_arena &&
         plan.queues[0].backend->open(plan.queues[0].device) == nullptr;
}

Session::Session(const Plan& plan) : plan_(plan), staging_(Staging::make(plan)) {
  bind_steps();
  for (size_t i = 0; i < plan.queues.size(); ++i) {
    if (DeviceQueue* device = staging_ ? staging_->device(i) : nullptr) {
      set_arena(i, allocate_for(plan, i, [&](const Queue& queue) {
                  return device->allocate(queue.arena_bytes);
                }));
    } else {
      arenas_.push_back(allocate_arena(plan, i));
      set_arena(i, arenas_.back().data());
    }
  }
  if (plan.queues.size() > 1 && plan.concurrent_queues)
    queues_ = std::make_unique<Queues>(plan, launches_, staging_.get());
}

Session::Session(const Plan& plan, BorrowedArena) : plan_(plan) { bind_steps(); }

void Session::bind_steps() {
  input_uses_.resize(plan_.module.block().parameters().size());
  output_uses_.resize(plan_.results().size());
  kept_uses_.resize(plan_.kept.size());
  if (!plan_.kept.empty()) states_.resize(input_uses_.size());
  size_t total = 0;
  for (const PlanStep& step : plan_.steps) total += step.slots.size();
  pointers_.resize(total);
  size_t position = 0;
  for (const PlanStep& step : plan_.steps) {
    for (const Slot& slot : step.slots) {
      if (slot.kind == Slot::Kind::constant)
        pointers_[position] = plan_.constants[slot.index].address();
      if (slot.kind == Slot::Kind::input)
        input_uses_[slot.index].push_back({position, slot.offset});
      if (slot.kind == Slot::Kind::kept) kept_uses_[slot.index].push_back({position, slot.offset});
      if (slot.kind == Slot::Kind::output) output_uses_[slot.index].push_back({position, 0});
      ++position;
    }
  }
  // pointers_ is not resized any more, so launches may keep addresses in it.
  position = 0;
  for (const PlanStep& step : plan_.steps) {
    const bool kept = plan_.keeps_values && launches_.size() < plan_.stable_steps;
    launches_.push_back(kept ? Launch() : step.kernel->bind(pointers_.data() + position));
    position += step.slots.size();
  }
}

// Returns the values, which must live as long as steps may read them.
std::shared_ptr<const void> Session::use_kept_values() const {
  auto set = plan_.kept_values->current(plan_, states_);
  if (set->id == kept_set_) return set;
  for (size_t i = 0; i < kept_uses_.size(); ++i) {
    if (set->values[i] == nullptr) continue;  // only stable steps read it
    for (const Use& use : kept_uses_[i])
      pointers_[use.position] = static_cast<std::byte*>(set->values[i].get()) + use.offset;
  }
  kept_set_ = set->id;
  return set;
}

void Session::launch_with_kept() const {
  const auto kept = use_kept_values();
  launch_steps();
}

void Session::set_arena(size_t queue, std::byte* arena) {
  size_t position = 0;
  for (const PlanStep& step : plan_.steps)
    for (const Slot& slot : step.slots) {
      if (slot.kind == Slot::Kind::arena && slot.index == queue)
        pointers_[position] = arena + slot.offset;
      ++position;
    }
}

void Session::run(std::span<void* const> inputs, std::span<void* const> outputs) {
  ensure(inputs.size() == input_uses_.size() && outputs.size() == output_uses_.size(),
         "Session: wrong number of addresses");
  for (size_t i = 0; i < inputs.size(); ++i) set_input(i, inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) set_output(i, outputs[i]);
  launch();
}

void Session::launch_queues() const {
  if (queues_) return queues_->run();
  for (size_t i = 0; i < launches_.size(); ++i) try {
      launch_alone(i);
    } catch (const std::exception&) {
      rethrow(plan_, plan_.steps[i], std::current_exception());
    }
}

void Session::stage_input(size_t index, void* address) {
  assign(input_uses_[index], staging_->set_input(index, address));
}

void Session::stage_output(size_t index, void* address) {
  assign(output_uses_[index], staging_->set_output(index, address));
}

void Session::set_state(size_t index, const Tensor& state) {
  if (void* there = staging_ ? staging_->set_resident_input(index, state) : nullptr) {
    assign(input_uses_[index], there);
  } else {
    copy_to_host(state.raw());  // another program may have left newer bytes on a device
    set_input(index, state.raw());
    if (!states_.empty() && states_[index].raw() != state.raw()) states_[index] = state;
  }
}

void Session::set_result(size_t index, const Tensor& result) {
  if (!staging_) return set_output(index, result.raw());
  assign(output_uses_[index], staging_->set_deferred_output(index, result));
}

// Runs one step and waits for its end.
void Session::launch_alone(size_t step) const {
  DeviceQueue* device = staging_ ? staging_->device_of(plan_.steps[step].device) : nullptr;
  if (device != nullptr) device->enter();
  launches_[step]();
  if (device != nullptr) device->finish();
}

void Session::launch_staged() const {
  staging_->upload();
  if (plan_.queues.size() == 1) {
    staging_->run(launches_);
  } else {
    staging_->receive();
    launch_queues();
  }
  staging_->download();
}

void Session::launch_timed(std::span<double> seconds) const {
  using Clock = std::chrono::steady_clock;
  ensure(seconds.size() == launches_.size(), "Session: expected one time per step");
  if (staging_) {
    staging_->upload();
    staging_->receive();
  }
  const auto kept = kept_uses_.empty() ? nullptr : use_kept_values();
  auto before = Clock::now();
  for (size_t i = 0; i < launches_.size(); ++i) {
    if (launches_[i]) launch_alone(i);
    const auto after = Clock::now();
    seconds[i] += std::chrono::duration<double>(after - before).count();
    before = after;
  }
  if (staging_) staging_->download();
}

}  // namespace keratin
