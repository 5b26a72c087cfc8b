#include "keratin/backend/cpu/jit/register_allocator.h"

#include <algorithm>
#include <limits>

#include "keratin/base/text.h"

namespace keratin::cpu {

int RegisterAllocator::next_use(int value) const {
  const std::vector<int>& users = held(value).users;
  const auto next = std::lower_bound(users.begin(), users.end(), position_);
  return next == users.end() ? std::numeric_limits<int>::max() : *next;
}

// A free register, or that of the value needed last.
int RegisterAllocator::take_register() {
  int victim = -1, farthest = -1;
  for (int reg = 0; reg < register_count(); ++reg) {
    const int owner = owner_[size_t(reg)];
    if (owner == free_register) return reg;
    if (owner < 0 || std::find(pinned_.begin(), pinned_.end(), reg) != pinned_.end()) continue;
    const int next = next_use(owner);
    if (next > farthest) farthest = next, victim = reg;
  }
  ensure(victim >= 0, "loop code: an operation needs more registers than there are");
  spill(owner_[size_t(victim)]);
  release(victim);
  return victim;
}

void RegisterAllocator::spill(int value) {
  Held& v = held(value);
  if (v.slot >= 0 || v.rebuilt) return;
  v.slot = new_slot();
  vmovups(slot_address(v.slot), view(v.reg, v.lane));
}

void RegisterAllocator::release(int reg) {
  int& owner = owner_[size_t(reg)];
  if (owner >= 0) held(owner).reg = -1;
  owner = free_register;
}

Xmm RegisterAllocator::define(int value) {
  Held& v = held(value);
  v.reg = take_register();
  owner_[size_t(v.reg)] = value;
  return keep(value);
}

Xmm RegisterAllocator::reload(int value) {
  const Xmm reg = define(value);
  vmovups(reg, slot_of(value));
  return reg;
}

Xmm RegisterAllocator::keep(int value) {
  pinned_.push_back(held(value).reg);
  return view(held(value).reg, held(value).lane);
}

Xmm RegisterAllocator::temp(Lane lane) {
  const int reg = take_register();
  owner_[size_t(reg)] = temp_register;
  temps_.push_back(reg);
  return view(reg, lane);
}

void RegisterAllocator::release_temps() {
  for (int reg : temps_) owner_[size_t(reg)] = free_register;
  temps_.clear();
  pinned_.clear();
}

void RegisterAllocator::end_instruction() {
  release_temps();
  ++position_;
  for (int reg = 0; reg < register_count(); ++reg)
    if (owner_[size_t(reg)] >= 0 &&
        next_use(owner_[size_t(reg)]) == std::numeric_limits<int>::max())
      release(reg);
}

void RegisterAllocator::save_all() {
  for (int reg = 0; reg < register_count(); ++reg) {
    const int owner = owner_[size_t(reg)];
    if (owner < 0) continue;
    if (held(owner).users.back() > position_) spill(owner);
    release(reg);
  }
  pinned_.clear();
}

void RegisterAllocator::forget_registers() {
  for (Held& v : values_) v.reg = -1;
  std::fill(owner_.begin(), owner_.end(), free_register);
  for (const Reserved& r : reserved_) owner_[size_t(r.reg)] = reserved_register;
}

int RegisterAllocator::reserve(Lane lane) {
  const int reg = register_count() - 1 - static_cast<int>(reserved_.size());
  reserved_.push_back({reg, lane});
  return reg;
}

}  // namespace keratin::cpu
