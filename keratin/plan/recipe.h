#pragma once

#include <string>
#include <vector>

#include "keratin/plan/plan.h"

namespace keratin {

// How a value follows from state: equal recipes on equal state give the same bytes, in any plan.
struct Recipe {
  std::string text;
  std::vector<size_t> states;  // the parameters, in the order in which the text names them
};

// Of what a stable step computes or prepares.
Recipe recipe_of(const Plan& plan, const PlanStep& step, size_t output);

}  // namespace keratin
