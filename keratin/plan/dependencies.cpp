#include "keratin/plan/dependencies.h"

#include <algorithm>
#include <bitset>

#include "keratin/plan/hazards.h"

namespace keratin {

namespace {

// Which earlier steps are finished when a step starts: bit d stands for the step d + 1 before it.
constexpr size_t window = 4096;
using Finished = std::bitset<window>;

}  // namespace

Dependencies find_dependencies(const Plan& plan) {
  Hazards hazards;
  Dependencies all(plan.steps.size());
  std::vector<Finished> finished(plan.steps.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    std::vector<size_t> before;
    hazards.visit(plan.steps[i], i, [&](size_t step) { before.push_back(step); });
    // Later ones first: they may imply earlier ones.
    std::sort(before.begin(), before.end(), std::greater<>());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const size_t step : before) {
      const size_t back = i - step - 1;
      if (back < window && finished[i][back]) continue;
      all[i].push_back(step);
      if (back >= window) continue;
      finished[i] |= finished[step] << (back + 1);
      finished[i].set(back);
    }
  }
  return all;
}

Dependencies find_repeated_dependencies(const Plan& plan) {
  Dependencies all = find_dependencies(plan);
  all.erase(all.begin(), all.begin() + static_cast<int64_t>(plan.stable_steps));
  for (std::vector<size_t>& before : all) {
    std::erase_if(before, [&](size_t step) { return step < plan.stable_steps; });
    for (size_t& step : before) step -= plan.stable_steps;
  }
  return all;
}

}  // namespace keratin
