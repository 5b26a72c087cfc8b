#pragma once

#include "keratin/plan/arena.h"
#include "keratin/plan/plan.h"

namespace keratin {

// The queues of a plan that is being made, one per device, each with an arena.
class QueueArenas {
 public:
  QueueArenas(Plan& plan, const PlanOptions& options) : plan_(plan), options_(options) {}

  // The index of a device's queue, which is made if there is none.
  size_t queue_of(Device device);

  Slot allocate(Device device, size_t bytes);
  // Memory that is never used for anything else.
  Slot allocate_permanent(Device device, size_t bytes);
  void release(const Slot& slot);
  // Writes the sizes of the arenas into the plan.
  void finish();

 private:
  Plan& plan_;
  const PlanOptions& options_;
  std::vector<Arena> arenas_;            // one per queue
  std::vector<size_t> permanent_bytes_;  // one per queue
};

}  // namespace keratin
