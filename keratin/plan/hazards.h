#pragma once

#include <functional>
#include <map>
#include <optional>

#include "keratin/plan/plan.h"

namespace keratin {

// Who must come before whom. Steps are visited in an order in which they may run one by one.
class Hazards {
 public:
  // Calls `after` with every earlier step that this one must come after, some more than once:
  // whoever wrote what it reads, and whoever wrote or has read what it writes.
  void visit(const PlanStep& step, size_t index, const std::function<void(size_t)>& after);

 private:
  // Bytes that were last written together, and who has read them since.
  struct Piece {
    size_t end = 0;
    std::optional<size_t> writer = {};
    std::vector<size_t> readers = {};
  };
  // One arena, or one tensor of the caller's: pieces by where they begin.
  using Memory = std::map<size_t, Piece>;

  Memory* memory_of(const Slot& slot);

  std::map<std::pair<Slot::Kind, size_t>, Memory> memories_;
};

}  // namespace keratin
