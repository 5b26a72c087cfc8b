#include "keratin/plan/failures.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "keratin/ops/indexing.h"
#include "keratin/ops/records.h"
#include "keratin/ops/transfer.h"
#include "keratin/plan/rows.h"

namespace keratin {
namespace {

// The value that this one is a copy or a view of, as a whole.
Value source(Value value) {
  while (!is_parameter(value.node()) &&
         (&value.node().op() == &ops::transfer_op || ops::shares_memory(value.node())))
    value = value.node().in();
  return value;
}

bool checks_inside(const Node& node) {
  return std::any_of(node.regions().begin(), node.regions().end(), [](const auto& region) {
    return std::any_of(region->nodes().begin(), region->nodes().end(), [](const auto& inner) {
      return ops::index_check(*inner) || checks_inside(*inner);
    });
  });
}

// Records the indices if they are rows of an input that is only transferred, reshaped or sliced.
void find_index_input(Plan& plan, size_t step, const ops::IndexCheck& check) {
  IndexInput found{.step = step, .count = check.indices.shape().count(), .size = check.size};
  Value value = source(check.indices);
  for (; takes_rows(value.node()); value = source(value.node().in()))
    found.first += static_cast<int64_t>(first_byte(value.node()) / size_of(value.dtype()));
  if (!is_parameter(value.node()) || value.node().attr<ParameterAttrs>().state) return;
  const auto& parameters = plan.module.block().parameters();
  while (parameters[found.input].get() != &value.node()) ++found.input;
  plan.index_inputs.push_back(found);
}

}  // namespace

std::optional<size_t> find_failures(Plan& plan, const PlanOptions& options) {
  std::optional<size_t> last;
  // Indices that an earlier step has checked cannot make a later step fail.
  std::set<std::tuple<const Node*, size_t, int64_t>> checked;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    PlanStep& step = plan.steps[i];
    const auto check = ops::index_check(*step.node);
    if (options.has_own_memory(step.device)) {
      if (check) find_index_input(plan, i, *check);
      continue;
    }
    if (check) {
      const Value indices = source(check->indices);
      step.may_fail = checked.insert({&indices.node(), indices.index(), check->size}).second;
    } else {
      step.may_fail = checks_inside(*step.node);
    }
    if (step.may_fail) last = i;
  }
  return last;
}

}  // namespace keratin
