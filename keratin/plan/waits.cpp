#include "keratin/plan/waits.h"

#include <algorithm>

#include "keratin/plan/hazards.h"

namespace keratin {
namespace {

// Where a step is in its queue.
struct Place {
  size_t queue = 0, position = 0;
};

// How far each queue must have come: so many of its steps.
using Needs = std::vector<size_t>;

void need(Needs& needs, const Place& place) {
  needs[place.queue] = std::max(needs[place.queue], place.position + 1);
}

class WaitFinder {
 public:
  explicit WaitFinder(Plan& plan)
      : plan_(plan),
        places_(plan.steps.size()),
        known_(plan.queues.size(), Needs(plan.queues.size())) {
    for (size_t q = 0; q < plan.queues.size(); ++q)
      for (size_t i = 0; i < plan.queues[q].steps.size(); ++i)
        places_[plan.queues[q].steps[i]] = {q, i};
  }

  void run() {
    Hazards hazards;
    std::vector<size_t> failures;  // steps that may fail, after which state is written
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      Needs needs(plan_.queues.size());
      hazards.visit(plan_.steps[i], i, [&](size_t step) { need(needs, places_[step]); });
      if (plan_.steps[i].may_fail) failures.push_back(i);
      if (writes_state(plan_.steps[i]))
        for (const size_t step : failures) need(needs, places_[step]);
      wait(i, needs);
    }
  }

 private:
  // State is the only input of the caller's that is written.
  static bool writes_state(const PlanStep& step) {
    return std::any_of(step.slots.begin() + static_cast<std::ptrdiff_t>(step.input_count()),
                       step.slots.end(),
                       [](const Slot& slot) { return slot.kind == Slot::Kind::input; });
  }

  void wait(size_t index, const Needs& needs) {
    const size_t mine = places_[index].queue;
    for (size_t q = 0; q < needs.size(); ++q) {
      if (q == mine || needs[q] <= known_[mine][q]) continue;
      known_[mine][q] = needs[q];
      plan_.steps[index].waits.push_back({q, needs[q]});
      plan_.steps[plan_.queues[q].steps[needs[q] - 1]].signals = true;
    }
  }

  Plan& plan_;
  std::vector<Place> places_;
  std::vector<Needs> known_;  // what each queue has waited for already
};

}  // namespace

void find_waits(Plan& plan) {
  if (plan.queues.size() > 1) WaitFinder(plan).run();
}

}  // namespace keratin
