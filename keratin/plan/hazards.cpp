#include "keratin/plan/hazards.h"

#include <algorithm>

namespace keratin {
namespace {

// Splits the range that contains `at`, so that a range begins there.
template <class Memory>
void split_at(Memory& ranges, size_t at) {
  auto after = ranges.upper_bound(at);
  if (after == ranges.begin()) return;
  auto& [begin, range] = *std::prev(after);
  if (begin == at || range.end <= at) return;
  auto rest = range;
  range.end = at;
  ranges.emplace(at, std::move(rest));
}

// Visits ranges that cover [begin, end) without a gap.
template <class Memory, class Visit>
void each(Memory& ranges, size_t begin, size_t end, const Visit& visit) {
  split_at(ranges, begin);
  split_at(ranges, end);
  size_t at = begin;
  while (at < end) {
    auto next = ranges.lower_bound(at);
    if (next == ranges.end() || next->first != at) {
      const size_t until = next == ranges.end() ? end : std::min(end, next->first);
      next = ranges.emplace(at, typename Memory::mapped_type{until}).first;
    }
    visit(next->second);
    at = next->second.end;
  }
}

}  // namespace

Hazards::Memory* Hazards::memory_of(const Slot& slot) {
  const bool shared = slot.kind == Slot::Kind::arena || slot.kind == Slot::Kind::input ||
                      slot.kind == Slot::Kind::output;
  return shared && slot.bytes > 0 ? &memories_[{slot.kind, slot.index}] : nullptr;
}

// Inputs come before outputs: a step may overwrite its inputs.
void Hazards::visit(const PlanStep& step, size_t index, const std::function<void(size_t)>& after) {
  const auto read = [&](Range& range) {
    if (range.writer) after(*range.writer);
    if (range.readers.empty() || range.readers.back() != index) range.readers.push_back(index);
  };
  const auto overwrite = [&](const Range& range) {
    if (range.writer && *range.writer != index) after(*range.writer);
    for (const size_t reader : range.readers)
      if (reader != index) after(reader);
  };
  for (size_t s = 0; s < step.slots.size(); ++s) {
    const Slot& slot = step.slots[s];
    Memory* memory = memory_of(slot);
    if (memory == nullptr) continue;
    const size_t end = slot.offset + slot.bytes;
    if (s < step.input_count()) {
      each(*memory, slot.offset, end, read);
    } else {
      each(*memory, slot.offset, end, overwrite);
      memory->erase(memory->lower_bound(slot.offset), memory->lower_bound(end));
      (*memory)[slot.offset] = {end, index};
    }
  }
}

}  // namespace keratin
