#include "keratin/plan/kept_values.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "keratin/base/text.h"
#include "keratin/plan/recipe.h"
#include "keratin/plan/value_store.h"

namespace keratin {

namespace {

// Whether a stable step computes the kept value in this slot; if not, it reads it.
bool computes(const PlanStep& step, size_t position) {
  const size_t outputs = step.input_count(), scratch = outputs + step.output_count();
  return step.preparation != nullptr ? position == scratch
                                     : position >= outputs && position < scratch;
}

// Computes those values of a plan that are missing, and what they follow from.
class Computation {
 public:
  Computation(const Plan& plan, std::span<const Tensor> states,
              std::vector<std::shared_ptr<void>>& values)
      : plan_(plan), states_(states), values_(values), last_use_(plan.kept.size()) {}

  void run() {
    const std::vector<bool> needed = needed_steps();
    for (size_t i = 0; i < plan_.stable_steps; ++i) {
      if (!needed[i]) continue;
      run_step(i);
      for (size_t value = 0; value < values_.size(); ++value)
        if (!plan_.kept[value].is_read && last_use_[value] == i) values_[value].reset();
    }
  }

 private:
  // Steps that give a missing value, or one that such a step reads.
  std::vector<bool> needed_steps() {
    std::vector<bool> needed(plan_.stable_steps);
    for (size_t i = 0; i < values_.size(); ++i)
      if (plan_.kept[i].is_read && !values_[i]) needed[plan_.kept[i].step] = true;
    for (size_t i = plan_.stable_steps; i-- > 0;) {
      if (!needed[i]) continue;
      const PlanStep& step = plan_.steps[i];
      for (size_t position = 0; position < step.slots.size(); ++position) {
        const Slot& slot = step.slots[position];
        if (slot.kind != Slot::Kind::kept || computes(step, position) || values_[slot.index])
          continue;
        needed[plan_.kept[slot.index].step] = true;
        last_use_[slot.index] = std::max(last_use_[slot.index], i);
      }
    }
    return needed;
  }

  void run_step(size_t index) {
    const PlanStep& step = plan_.steps[index];
    std::vector<void*> pointers;
    std::vector<Buffer> scratch;
    for (const Slot& slot : step.slots) pointers.push_back(address(slot, scratch));
    step.kernel->bind(pointers.data())();
  }

  void* address(const Slot& slot, std::vector<Buffer>& scratch) {
    switch (slot.kind) {
      case Slot::Kind::constant:
        return plan_.constants[slot.index].address();
      case Slot::Kind::input:
        return static_cast<std::byte*>(states_[slot.index].raw()) + slot.offset;
      case Slot::Kind::arena:
        return scratch.emplace_back(Buffer::allocate(slot.bytes)).data();
      case Slot::Kind::kept:
        if (!values_[slot.index])
          values_[slot.index] = new_stored_value(plan_.kept[slot.index].bytes);
        return static_cast<std::byte*>(values_[slot.index].get()) + slot.offset;
      default:
        return nullptr;
    }
  }

  const Plan& plan_;
  std::span<const Tensor> states_;
  std::vector<std::shared_ptr<void>>& values_;
  std::vector<size_t> last_use_;  // the last needed step that reads each value
};

// The parameters that the stable steps of a plan read.
std::vector<size_t> sources_of(const Plan& plan) {
  std::set<size_t> sources;
  for (size_t i = 0; i < plan.stable_steps; ++i)
    for (size_t input = 0; input < plan.steps[i].input_count(); ++input) {
      const Slot& slot = plan.steps[i].slots[input];
      if (slot.kind == Slot::Kind::input) sources.insert(slot.index);
    }
  return {sources.begin(), sources.end()};
}

// All KeptValues of the process.
struct Registry {
  std::mutex lock;
  std::set<KeptValues*> all;
};

Registry& registry() {
  static auto* made = new Registry;  // plans may live longer than static objects
  return *made;
}

uint64_t next_id() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

}  // namespace

KeptValues::KeptValues(const Plan& plan)
    : sources_(sources_of(plan)), recipes_(plan.kept.size()), states_of_(plan.kept.size()) {
  for (size_t i = 0; i < plan.kept.size(); ++i) {
    const KeptValue& kept = plan.kept[i];
    if (!kept.is_read) continue;
    const PlanStep& step = plan.steps[kept.step];
    const bool prepared = step.preparation != nullptr;
    Recipe recipe = recipe_of(plan, step, prepared ? 0 : kept.position - step.node->input_count());
    recipes_[i] = std::move(recipe.text);
    states_of_[i] = std::move(recipe.states);
  }
  const std::lock_guard guard(registry().lock);
  registry().all.insert(this);
}

KeptValues::~KeptValues() {
  const std::lock_guard guard(registry().lock);
  registry().all.erase(this);
}

std::shared_ptr<const KeptValues::Set> KeptValues::current(const Plan& plan,
                                                           std::span<const Tensor> states) {
  {
    const std::lock_guard guard(lock_);
    if (set_ && is_current(*set_, states)) return set_;
  }
  release_outdated();
  auto made = make(plan, states);
  const std::lock_guard guard(lock_);
  set_ = made;
  return made;
}

void KeptValues::release() {
  const std::lock_guard guard(lock_);
  set_.reset();
}

// Values of weights that have changed since, of any plan: so that two versions of all weights are
// never kept because some programs do not run any more.
void KeptValues::release_outdated() {
  const std::lock_guard guard(registry().lock);
  for (KeptValues* kept : registry().all) {
    const std::lock_guard own(kept->lock_);
    if (kept->set_ && !has_versions_of(*kept->set_)) kept->set_.reset();
  }
}

bool KeptValues::has_versions_of(const Set& set) {
  for (size_t i = 0; i < set.watched_.size(); ++i)
    if (set.watched_[i]->now() != set.versions_[i]) return false;
  return true;
}

bool KeptValues::is_current(Set& set, std::span<const Tensor> states) const {
  for (const size_t source : sources_)
    if (set.states[source].raw() != states[source].raw()) return false;
  const uint64_t writes = state_writes();
  if (set.checked_at_.load(std::memory_order_relaxed) == writes) return true;
  if (!has_versions_of(set)) return false;
  set.checked_at_.store(writes, std::memory_order_relaxed);
  return true;
}

std::shared_ptr<KeptValues::Set> KeptValues::make(const Plan& plan,
                                                  std::span<const Tensor> states) const {
  auto set = std::make_shared<Set>();
  set->id = next_id();
  set->states.assign(states.begin(), states.end());
  // Versions are read before the contents: whoever writes in between makes the set outdated.
  for (const size_t source : sources_) {
    ensure(states[source].defined(), "Session: parameter ", source, " is state, expected a tensor");
    set->watched_.push_back(StateVersion::watch(states[source].raw()));
  }
  set->checked_at_ = state_writes();
  std::vector<uint64_t> version_of(states.size());
  for (size_t i = 0; i < sources_.size(); ++i) {
    set->versions_.push_back(set->watched_[i]->now());
    version_of[sources_[i]] = set->versions_[i];
  }

  std::vector<std::string> keys = recipes_;
  for (size_t i = 0; i < keys.size(); ++i)
    for (const size_t state : states_of_[i]) keys[i] += text(' ', version_of[state]);
  // One at a time, so that plans that start together compute a value once.
  static std::mutex computing;
  const std::lock_guard guard(computing);
  set->values.resize(keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    if (plan.kept[i].is_read) set->values[i] = find_stored_value(keys[i]);
  const auto found = set->values;
  Computation(plan, states, set->values).run();
  for (size_t i = 0; i < keys.size(); ++i)
    if (plan.kept[i].is_read && !found[i]) store_value(keys[i], set->values[i]);
  return set;
}

void finish_kept_values(Plan& plan) {
  if (!plan.keeps_values) return;
  std::unordered_map<const Node*, const Preparation*> preparations;
  for (const PlanStep& step : plan.steps)
    if (step.preparation != nullptr) preparations[step.node] = step.preparation;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    const auto found = preparations.find(step.node);
    for (size_t position = 0; position < step.slots.size(); ++position) {
      const Slot& slot = step.slots[position];
      if (slot.kind != Slot::Kind::kept) continue;
      const bool replaced = position < step.input_count() && found != preparations.end() &&
                            found->second->replaces(position);
      KeptValue& kept = plan.kept[slot.index];
      if (i < plan.stable_steps) {
        if (computes(step, position)) kept.step = i, kept.position = position;
      } else if (!replaced) {
        kept.is_read = true;
      }
    }
  }
  plan.kept_values = std::make_shared<KeptValues>(plan);
}

}  // namespace keratin
