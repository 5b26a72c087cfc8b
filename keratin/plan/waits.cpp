#include "keratin/plan/waits.h"

#include <algorithm>
#include <map>

namespace keratin {
namespace {

// Where a step is in its queue.
struct Place {
  size_t queue = 0, position = 0;
};

// How far each queue must have come: so many of its steps.
using Needs = std::vector<size_t>;

void need(Needs& needs, const Place& place) {
  needs[place.queue] = std::max(needs[place.queue], place.position + 1);
}

// Bytes that were last written together, and who has read them since.
struct Piece {
  size_t end = 0;
  std::optional<Place> writer = {};
  Needs readers;  // the last of each queue, counted from 1
};

// One arena, or one tensor of the caller's: pieces by where they begin.
class Memory {
 public:
  explicit Memory(size_t queues) : queues_(queues) {}

  void read(size_t begin, size_t end, Place reader, Needs& needs) {
    each(begin, end, [&](Piece& piece) {
      if (piece.writer) need(needs, *piece.writer);
      need(piece.readers, reader);
    });
  }

  void write(size_t begin, size_t end, Place writer, Needs& needs) {
    each(begin, end, [&](Piece& piece) {
      if (piece.writer) need(needs, *piece.writer);
      for (size_t q = 0; q < queues_; ++q) needs[q] = std::max(needs[q], piece.readers[q]);
    });
    pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
    pieces_[begin] = {end, writer, Needs(queues_)};
  }

 private:
  // Makes `at` a border between pieces.
  void cut(size_t at) {
    auto after = pieces_.upper_bound(at);
    if (after == pieces_.begin()) return;
    auto& [begin, piece] = *std::prev(after);
    if (begin == at || piece.end <= at) return;
    Piece rest = piece;
    piece.end = at;
    pieces_.emplace(at, std::move(rest));
  }

  // The pieces of [begin, end), which cover it without a gap.
  template <class Visit>
  void each(size_t begin, size_t end, const Visit& visit) {
    cut(begin);
    cut(end);
    size_t at = begin;
    while (at < end) {
      auto next = pieces_.lower_bound(at);
      if (next == pieces_.end() || next->first != at) {
        const size_t until = next == pieces_.end() ? end : std::min(end, next->first);
        next = pieces_.emplace(at, Piece{until, {}, Needs(queues_)}).first;
      }
      visit(next->second);
      at = next->second.end;
    }
  }

  size_t queues_;
  std::map<size_t, Piece> pieces_;
};

class WaitFinder {
 public:
  explicit WaitFinder(Plan& plan)
      : plan_(plan),
        places_(plan.steps.size()),
        known_(plan.queues.size(), Needs(plan.queues.size())) {
    for (size_t q = 0; q < plan.queues.size(); ++q)
      for (size_t i = 0; i < plan.queues[q].steps.size(); ++i)
        places_[plan.queues[q].steps[i]] = {q, i};
  }

  void run() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      Needs needs(plan_.queues.size());
      visit(i, needs);
      wait(i, needs);
    }
  }

 private:
  // What is read first: a step may write over what it reads.
  void visit(size_t index, Needs& needs) {
    const PlanStep& step = plan_.steps[index];
    const Place place = places_[index];
    for (size_t s = 0; s < step.slots.size(); ++s)
      if (Memory* memory = memory_of(step.slots[s]); memory != nullptr && s < step.input_count())
        memory->read(step.slots[s].offset, end_of(step.slots[s]), place, needs);
    for (size_t s = step.input_count(); s < step.slots.size(); ++s)
      if (Memory* memory = memory_of(step.slots[s]))
        memory->write(step.slots[s].offset, end_of(step.slots[s]), place, needs);
  }

  static size_t end_of(const Slot& slot) { return slot.offset + slot.bytes; }

  Memory* memory_of(const Slot& slot) {
    const bool shared = slot.kind == Slot::Kind::arena || slot.kind == Slot::Kind::input ||
                        slot.kind == Slot::Kind::output;
    if (!shared || slot.bytes == 0) return nullptr;
    return &memories_.try_emplace({slot.kind, slot.index}, plan_.queues.size()).first->second;
  }

  void wait(size_t index, const Needs& needs) {
    const size_t mine = places_[index].queue;
    for (size_t q = 0; q < needs.size(); ++q) {
      if (q == mine || needs[q] <= known_[mine][q]) continue;
      known_[mine][q] = needs[q];
      plan_.steps[index].waits.push_back({q, needs[q]});
      plan_.steps[plan_.queues[q].steps[needs[q] - 1]].signals = true;
    }
  }

  Plan& plan_;
  std::vector<Place> places_;
  std::vector<Needs> known_;  // what each queue has waited for already
  std::map<std::pair<Slot::Kind, size_t>, Memory> memories_;
};

}  // namespace

void find_waits(Plan& plan) {
  if (plan.queues.size() > 1) WaitFinder(plan).run();
}

}  // namespace keratin
