#include "keratin/plan/hazards.h"

#include <algorithm>

namespace keratin {
namespace {

// Makes `at` a border between pieces.
template <class Memory>
void cut(Memory& pieces, size_t at) {
  auto after = pieces.upper_bound(at);
  if (after == pieces.begin()) return;
  auto& [begin, piece] = *std::prev(after);
  if (begin == at || piece.end <= at) return;
  auto rest = piece;
  piece.end = at;
  pieces.emplace(at, std::move(rest));
}

// The pieces of [begin, end), which cover it without a gap.
template <class Memory, class Visit>
void each(Memory& pieces, size_t begin, size_t end, const Visit& visit) {
  cut(pieces, begin);
  cut(pieces, end);
  size_t at = begin;
  while (at < end) {
    auto next = pieces.lower_bound(at);
    if (next == pieces.end() || next->first != at) {
      const size_t until = next == pieces.end() ? end : std::min(end, next->first);
      next = pieces.emplace(at, typename Memory::mapped_type{until}).first;
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

// What is read first: a step may write over what it reads.
void Hazards::visit(const PlanStep& step, size_t index, const std::function<void(size_t)>& after) {
  const auto read = [&](Piece& piece) {
    if (piece.writer) after(*piece.writer);
    if (piece.readers.empty() || piece.readers.back() != index) piece.readers.push_back(index);
  };
  const auto overwrite = [&](const Piece& piece) {
    if (piece.writer && *piece.writer != index) after(*piece.writer);
    for (const size_t reader : piece.readers)
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
