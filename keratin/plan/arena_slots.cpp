#include "keratin/plan/arena_slots.h"

namespace keratin {

namespace {

class ArenaSlots {
 public:
  ArenaSlots(Plan& plan, const Storage& storage, const Lifetimes& lifetimes, SlotTable& slots,
             QueueArenas& arenas)
      : plan_(plan),
        storage_(storage),
        lifetimes_(lifetimes),
        slots_(slots),
        arenas_(arenas),
        overwritten_(storage.count()),
        prepared_(plan.module.block()) {}

  void assign() {
    const std::vector<std::vector<Value>> ending = find_last_uses();
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      PlanStep& step = plan_.steps[i];
      if (step.preparation != nullptr) {
        assign_preparation(step);
        continue;
      }
      assign_outputs(i);
      write_slots(step);
      for (const Value& value : ending[i]) release(value);
    }
  }

 private:
  // The values whose last use is each step.
  std::vector<std::vector<Value>> find_last_uses() const {
    std::vector<std::vector<Value>> ending(plan_.steps.size());
    for (const auto& node : plan_.module.block().nodes()) {
      if (storage_.is_alias(*node)) continue;
      for (const Value& value : node->outputs()) {
        const Lifetimes::Lifetime& lifetime = lifetimes_.of(value);
        if (lifetime.used && lifetime.last_use != Lifetimes::forever && !slots_.has_slot(value))
          ending[lifetime.last_use].push_back(value);
      }
    }
    return ending;
  }

  // Permanent memory, so that a preparation does not wait. The prepared step reads the same inputs,
  // so they do not end here.
  void assign_preparation(PlanStep& step) {
    for (size_t i = 0; i < step.input_count(); ++i)
      step.slots.push_back(step.preparation->reads(i) ? slots_.of(step.node->in(i)) : Slot{});
    step.slots.resize(step.input_count() + step.output_count());
    const size_t bytes = step.kernel->scratch_bytes();
    prepared_[*step.node] =
        plan_.keeps_values ? keep(bytes) : arenas_.allocate_permanent(step.device, bytes);
    step.slots.push_back(prepared_[*step.node]);
  }

  void assign_outputs(size_t index) {
    const PlanStep& step = plan_.steps[index];
    for (const Value& output : step.node->outputs()) {
      const Lifetimes::Lifetime& lifetime = lifetimes_.of(output);
      if (!lifetime.used || slots_.has_slot(output)) continue;
      if (plan_.keeps_values && index < plan_.stable_steps) {
        slots_.of_owner(output) = keep(bytes_of(output.type()));
        continue;
      }
      const Value input = overwritable_input(index, output);
      if (input.defined()) {
        slots_.of_owner(output) = slots_.of_owner(input);
        overwritten_[storage_.index(input)] = true;
        continue;
      }
      const bool kept = index < plan_.stable_steps && lifetime.last_use == Lifetimes::forever;
      const size_t bytes = bytes_of(output.type());
      slots_.of_owner(output) = kept ? arenas_.allocate_permanent(step.device, bytes)
                                     : arenas_.allocate(output.type().device, bytes);
    }
  }

  Slot keep(size_t bytes) {
    plan_.kept.push_back({.bytes = bytes});
    return {Slot::Kind::kept, plan_.kept.size() - 1, 0, bytes};
  }

  // An input of the same size that is used here for the last time, and that the kernel may
  // overwrite.
  Value overwritable_input(size_t index, Value output) const {
    const PlanStep& step = plan_.steps[index];
    for (size_t i = 0; i < step.node->input_count(); ++i) {
      const Value input = storage_.owner(step.node->in(i));
      const Lifetimes::Lifetime& lifetime = lifetimes_.of(input);
      if (slots_.of_owner(input).kind == Slot::Kind::arena && lifetime.last_use == index &&
          !lifetime.read_by_other_device && !overwritten_[storage_.index(input)] &&
          bytes_of(input.type()) == bytes_of(output.type()) &&
          may_overwrite(step, storage_, input, output.index()))
        return input;
    }
    return {};
  }

  void write_slots(PlanStep& step) {
    for (const Value& input : step.node->inputs()) step.slots.push_back(slots_.of(input));
    for (const Value& output : step.node->outputs()) step.slots.push_back(slots_.of_owner(output));
    if (step.kernel->scratch_bytes() > 0) {
      step.slots.push_back(arenas_.allocate(step.device, step.kernel->scratch_bytes()));
      arenas_.release(step.slots.back());
    } else {
      step.slots.push_back({});
    }
    if (prepared_[*step.node].kind != Slot::Kind::none) step.slots.push_back(prepared_[*step.node]);
  }

  void release(Value value) {
    if (!overwritten_[storage_.index(value)] && !lifetimes_.of(value).read_by_other_device &&
        slots_.of_owner(value).kind == Slot::Kind::arena)
      arenas_.release(slots_.of_owner(value));
  }

  Plan& plan_;
  const Storage& storage_;
  const Lifetimes& lifetimes_;
  SlotTable& slots_;
  QueueArenas& arenas_;
  std::vector<bool> overwritten_;  // by an output of the last step that used it
  BlockTable<Slot> prepared_;      // by the node that the preparation is for
};

}  // namespace

void assign_arena_slots(Plan& plan, const Storage& storage, const Lifetimes& lifetimes,
                        SlotTable& slots, QueueArenas& arenas) {
  ArenaSlots(plan, storage, lifetimes, slots, arenas).assign();
}

}  // namespace keratin
