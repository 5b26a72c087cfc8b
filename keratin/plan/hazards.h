#pragma once

#include <functional>
#include <map>
#include <optional>

#include "keratin/plan/plan.h"

namespace keratin {

// Finds which steps must come before which others, because they use the same memory. Steps are
// visited in an order in which they may run one after the other.
class Hazards {
 public:
  // Calls `after` with every earlier step that this one must come after: steps that wrote memory
  // which it reads, and steps that read or wrote memory which it writes. Some are passed twice.
  void visit(const PlanStep& step, size_t index, const std::function<void(size_t)>& after);

 private:
  // A range of bytes, the step that wrote it last, and the steps that have read it since.
  struct Range {
    size_t end = 0;
    std::optional<size_t> writer = {};
    std::vector<size_t> readers = {};
  };
  // The ranges of one arena, or of one tensor of the caller's, by where they begin.
  using Memory = std::map<size_t, Range>;

  Memory* memory_of(const Slot& slot);

  std::map<std::pair<Slot::Kind, size_t>, Memory> memories_;
};

}  // namespace keratin
