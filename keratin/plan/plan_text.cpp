#include <ostream>

#include "keratin/base/text.h"
#include "keratin/ops/records.h"
#include "keratin/plan/plan.h"

// Plans as text, and their costs.
namespace keratin {

double flops(const Plan& plan) {
  double total = 0;
  for (const PlanStep& step : plan.steps) total += flops(step);
  return total;
}

size_t memory_bytes(const Plan& plan) {
  constexpr size_t per_step = size_t{6} << 10;  // a node, kernel, code and slots, as measured
  size_t bytes = plan.steps.size() * per_step;
  for (const PlanConstant& constant : plan.constants) bytes += constant.value.bytes();
  return bytes;
}

double flops(const PlanStep& step) {
  return step.node != nullptr && step.preparation == nullptr ? flops(*step.node) : 0;
}

std::ostream& operator<<(std::ostream& out, const Slot& slot) {
  switch (slot.kind) {
    case Slot::Kind::none:
      return out << '-';
    case Slot::Kind::arena:
      return out << '@' << slot.offset;
    case Slot::Kind::constant:
      return out << 'c' << slot.index;
    case Slot::Kind::input:
      return out << "in" << slot.index;
    case Slot::Kind::output:
      return out << "out" << slot.index;
    case Slot::Kind::kept:
      return out << "kept" << slot.index;
  }
  return out;
}

namespace {

bool is_transfer(const PlanStep& step) {
  return step.node != nullptr && &step.node->op() == &ops::transfer_op;
}

void print_queue(std::ostream& out, const Plan& plan, const Queue& queue) {
  size_t transfers = 0, bytes = 0;
  for (const size_t i : queue.steps)
    if (is_transfer(plan.steps[i])) {
      ++transfers;
      bytes += bytes_of(plan.steps[i].node->type());
    }
  out << "  " << queue.device << ": " << queue.steps.size() << " steps, arena " << queue.arena_bytes
      << " bytes, " << transfers << " transfers of " << bytes << " bytes\n";
}

}  // namespace

std::string name_of(const Plan& plan, const PlanStep& step) {
  const Origin origin = step.node != nullptr ? step.node->origin() : nullptr;
  return text("step ", &step - plan.steps.data(), ", ", step.kernel->describe(),
              origin ? text(", of layer '", *origin, "'") : "");
}

void rethrow(const Plan& plan, const PlanStep& step, std::exception_ptr error) {
  const auto message = [&](const std::exception& what) {
    return text(step.device, ": ", name_of(plan, step), ": ", what.what());
  };
  try {
    std::rethrow_exception(std::move(error));
  } catch (const UserError& user) {
    throw UserError(message(user));
  } catch (const InternalError& internal) {
    throw InternalError(message(internal));
  } catch (const std::exception& other) {
    throw BackendError(message(other));
  }
}

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  out << plan.steps.size() << " steps, arena " << plan.arena_bytes << " bytes, "
      << flops(plan) / 1e6 << " MFLOP\n";
  if (plan.queues.size() > 1)
    for (const Queue& queue : plan.queues) print_queue(out, plan, queue);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    const size_t scratch = step.input_count() + step.output_count();
    out << "  " << i << ": " << (i < plan.stable_steps ? "once " : "") << step.device << ' '
        << step.kernel->describe() << " (";
    for (size_t s = 0; s < step.slots.size(); ++s)
      out << (s == 0                    ? ""
              : s == step.input_count() ? " -> "
              : s == scratch            ? " ~ "
                                        : " ")
          << step.slots[s];
    out << ')';
    if (is_transfer(step))
      out << " from " << step.node->in().type().device << ", " << bytes_of(step.node->type())
          << " bytes";
    if (step.node != nullptr && step.node->origin()) out << " [" << *step.node->origin() << ']';
    for (const Wait& wait : step.waits)
      out << (&wait == step.waits.data() ? " after " : ", ")
          << plan.queues[wait.queue].steps[wait.steps - 1];
    out << '\n';
  }
  return out;
}

}  // namespace keratin
