#include "keratin/plan/queue_arenas.h"

namespace keratin {

size_t QueueArenas::queue_of(Device device) {
  for (size_t i = 0; i < plan_.queues.size(); ++i)
    if (plan_.queues[i].device == device) return i;
  plan_.queues.push_back({device, {}, 0, options_.of(device).front()});
  arenas_.emplace_back();
  permanent_bytes_.push_back(0);
  return plan_.queues.size() - 1;
}

Slot QueueArenas::allocate(Device device, size_t bytes) {
  const size_t queue = queue_of(device);
  return {Slot::Kind::arena, queue, arenas_[queue].allocate(bytes), bytes};
}

Slot QueueArenas::allocate_permanent(Device device, size_t bytes) {
  const Slot slot = allocate(device, bytes);
  permanent_bytes_[slot.index] += bytes;
  return slot;
}

// Steps of a GPU may run at the same time, unless they share memory: a small arena is not reused.
void QueueArenas::release(const Slot& slot) {
  constexpr size_t small = size_t{32} << 20;
  const bool concurrent = options_.has_own_memory(plan_.queues[slot.index].device);
  if (!concurrent || arenas_[slot.index].size() > small + permanent_bytes_[slot.index])
    arenas_[slot.index].release(slot.offset);
}

void QueueArenas::finish() {
  for (size_t i = 0; i < arenas_.size(); ++i)
    plan_.arena_bytes += plan_.queues[i].arena_bytes = arenas_[i].size();
}

}  // namespace keratin
