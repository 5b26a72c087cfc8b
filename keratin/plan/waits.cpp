#include "keratin/plan/waits.h"

#include <algorithm>

#include "keratin/plan/hazards.h"

namespace keratin {
namespace {

// The position of a step in its queue.
struct Position {
  size_t queue = 0, index = 0;
};

// For each queue, how many of its steps must be finished.
using Progress = std::vector<size_t>;

void require_finished(Progress& needed, const Position& step) {
  needed[step.queue] = std::max(needed[step.queue], step.index + 1);
}

class WaitFinder {
 public:
  explicit WaitFinder(Plan& plan)
      : plan_(plan),
        positions_(plan.steps.size()),
        known_(plan.queues.size(), Progress(plan.queues.size())) {
    for (size_t q = 0; q < plan.queues.size(); ++q)
      for (size_t i = 0; i < plan.queues[q].steps.size(); ++i)
        positions_[plan.queues[q].steps[i]] = {q, i};
  }

  void run() {
    Hazards hazards;
    std::vector<size_t> failures;  // steps that may fail; state is written after them
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      Progress needed(plan_.queues.size());
      hazards.visit(plan_.steps[i], i,
                    [&](size_t step) { require_finished(needed, positions_[step]); });
      if (plan_.steps[i].may_fail) failures.push_back(i);
      if (writes_state(plan_.steps[i]))
        for (const size_t step : failures) require_finished(needed, positions_[step]);
      add_waits(i, needed);
    }
  }

 private:
  // Inputs of the caller are only written if they are state.
  static bool writes_state(const PlanStep& step) {
    return std::any_of(step.slots.begin() + static_cast<std::ptrdiff_t>(step.input_count()),
                       step.slots.end(),
                       [](const Slot& slot) { return slot.kind == Slot::Kind::input; });
  }

  // Leaves out what the queue has waited for already.
  void add_waits(size_t index, const Progress& needed) {
    const size_t mine = positions_[index].queue;
    for (size_t q = 0; q < needed.size(); ++q) {
      if (q == mine || needed[q] <= known_[mine][q]) continue;
      known_[mine][q] = needed[q];
      plan_.steps[index].waits.push_back({q, needed[q]});
      plan_.steps[plan_.queues[q].steps[needed[q] - 1]].signals = true;
    }
  }

  Plan& plan_;
  std::vector<Position> positions_;
  std::vector<Progress> known_;  // what each queue has waited for already
};

}  // namespace

void find_waits(Plan& plan) {
  if (plan.queues.size() > 1) WaitFinder(plan).run();
}

}  // namespace keratin
