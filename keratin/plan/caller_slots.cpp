#include "keratin/plan/caller_slots.h"

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/records.h"

namespace keratin {

namespace {

class CopyKernel final : public Kernel {
 public:
  CopyKernel(const Backend& backend, size_t bytes) : backend_(backend), bytes_(bytes) {}
  std::string describe() const override { return text("copy ", bytes_, " bytes"); }
  Launch bind(Pointers p) const override {
    return [this, p] {
      if (p[0] != p[1]) backend_.copy(p[1], p[0], bytes_);
    };
  }

 private:
  const Backend& backend_;
  size_t bytes_;
};

void assign_parameters(const Plan& plan, SlotTable& slots) {
  const auto& parameters = plan.module.block().parameters();
  for (size_t i = 0; i < parameters.size(); ++i)
    slots.of_owner(parameters[i]->out()) = {Slot::Kind::input, i, 0,
                                            bytes_of(parameters[i]->type())};
}

void assign_constants(Plan& plan, const PlanOptions& options, SlotTable& slots) {
  for (const auto& node : plan.module.block().nodes()) {
    if (&node->op() != &ops::constant_op) continue;
    slots.of_owner(node->out()) = {Slot::Kind::constant, plan.constants.size(), 0,
                                   bytes_of(node->type())};
    const Tensor& value = node->attr<ops::ConstantAttrs>().value;
    plan.constants.push_back(
        {value, options.of(node->device()).front()->keep(node->device(), value)});
  }
}

// A result is computed straight into the caller's memory, unless it has a slot under another name.
void assign_results(const Plan& plan, SlotTable& slots, FinalCopies& copies) {
  for (size_t i = 0; i < plan.results().size(); ++i) {
    const Value result = plan.results()[i];
    const Slot slot{Slot::Kind::output, i, 0, bytes_of(result.type())};
    if (slots.has_slot(result))
      copies.results.push_back({result, slot});
    else
      slots.of_owner(result) = slot;
  }
}

// New state is computed straight into the old state's memory if no later step reads the old state,
// and no step can fail any more.
class StateSlots {
 public:
  StateSlots(const Plan& plan, const Storage& storage, const Lifetimes& lifetimes,
             std::optional<size_t> last_failure)
      : plan_(plan),
        storage_(storage),
        lifetimes_(lifetimes),
        last_failure_(last_failure),
        step_of_(plan.module.block()) {
    for (size_t i = 0; i < plan.steps.size(); ++i)
      if (plan.steps[i].preparation == nullptr) step_of_[*plan.steps[i].node] = i;
  }

  void assign(SlotTable& slots, QueueArenas& arenas, FinalCopies& copies) const {
    std::vector<const Update*> copied;
    for (const Update& update : plan_.module.updates()) {
      if (!slots.has_slot(update.value) && may_overwrite_state(update))
        slots.of_owner(update.value) = slots.of_owner(update.state);
      else
        copied.push_back(&update);
    }
    for (const Update* update : copied) copy(*update, slots, arenas, copies);
  }

 private:
  bool may_overwrite_state(const Update& update) const {
    const Lifetimes::Lifetime& state = lifetimes_.of(update.state);
    const size_t producer = step_of_[storage_.owner(update.value).node()];
    if (last_failure_ && producer <= *last_failure_) return false;
    if (!state.used || state.last_use < producer) return true;
    if (state.last_use > producer) return false;
    const PlanStep& step = plan_.steps[producer];
    return may_overwrite(step, storage_, storage_.owner(update.state),
                         storage_.owner(update.value).index());
  }

  void copy(const Update& update, const SlotTable& slots, QueueArenas& arenas,
            FinalCopies& copies) const {
    if (storage_.owner(update.value) == storage_.owner(update.state)) return;
    const Slot target = slots.of_owner(update.state);
    std::optional<Slot> saved;
    if (slots.of_owner(update.value).kind == Slot::Kind::input) {
      saved = arenas.allocate(update.value.type().device, bytes_of(update.value.type()));
      copies.results.push_back({update.value, *saved});
    }
    copies.state.push_back({update.value, target, saved});
  }

  const Plan& plan_;
  const Storage& storage_;
  const Lifetimes& lifetimes_;
  const std::optional<size_t> last_failure_;
  BlockTable<size_t> step_of_;
};

}  // namespace

FinalCopies assign_caller_slots(Plan& plan, const PlanOptions& options, const Storage& storage,
                                const Lifetimes& lifetimes, std::optional<size_t> last_failure,
                                SlotTable& slots, QueueArenas& arenas) {
  FinalCopies copies;
  assign_parameters(plan, slots);
  assign_constants(plan, options, slots);
  assign_results(plan, slots, copies);
  StateSlots(plan, storage, lifetimes, last_failure).assign(slots, arenas, copies);
  return copies;
}

void append_copies(Plan& plan, const PlanOptions& options, const FinalCopies& copies,
                   const SlotTable& slots) {
  for (const auto* list : {&copies.results, &copies.state})
    for (const FinalCopies::Copy& copy : *list) {
      const Device device = copy.from.type().device;
      const Backend& backend = *options.of(device).front();
      plan.steps.push_back(
          {.kernel = std::make_unique<CopyKernel>(backend, bytes_of(copy.from.type())),
           .name = "plan: copy",
           .slots = {copy.saved.value_or(slots.of(copy.from)), copy.to, Slot{}},
           .device = device});
    }
}

}  // namespace keratin
