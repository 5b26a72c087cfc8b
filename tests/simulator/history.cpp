#include "history.h"

#include <algorithm>

namespace keratin::simulator {

namespace {

bool is_before(const Work& earlier, const Work& later) {
  const Position &a = *earlier.position, &b = *later.position;
  if (a.heard_at <= b.ordered_at) return true;  // the host knew
  if (a.stream != b.stream) return later.after->has(a, earlier.node);
  if (a.number != b.number) return a.number < b.number;
  return earlier.node == later.node ||
         (later.nodes_before != nullptr && (*later.nodes_before)[earlier.node]);
}

}  // namespace

void Clock::add(uint64_t stream, uint64_t number) {
  uint64_t& known = numbers_[stream];
  known = std::max(known, number);
}

void Clock::join(const Clock& other) {
  for (const auto& [stream, number] : other.numbers_) add(stream, number);
  for (const auto& [launch, nodes] : other.graphs_) graphs_.emplace(launch, nodes);
  std::erase_if(graphs_, [&](const auto& graph) {  // of work that is recorded as a whole
    const auto known = numbers_.find(graph.first.first);
    return known != numbers_.end() && graph.first.second <= known->second;
  });
}

bool Clock::has(const Position& position, size_t node) const {
  const auto known = numbers_.find(position.stream);
  if (known != numbers_.end() && position.number <= known->second) return true;
  const auto graph = graphs_.find({position.stream, position.number});
  return graph != graphs_.end() && (*graph->second)[node];
}

void History::split(uintptr_t at) {
  auto next = segments_.upper_bound(at);
  if (next == segments_.begin()) return;
  auto& [begin, segment] = *std::prev(next);
  if (begin == at || segment.end <= at) return;
  segments_.emplace_hint(next, at, segment);
  segment.end = at;
}

std::string History::add(uintptr_t begin, uintptr_t end, Touch how, const Work& work) {
  split(begin);
  split(end);
  const auto conflict = [&](const std::vector<Work>& others, const char* what) -> std::string {
    for (const Work& other : others)
      if (!is_before(other, work))
        return work.name + (how == Touch::read ? " reads" : " writes") + " what " + other.name +
               what + ", and nothing puts them in order";
    return "";
  };
  const auto first = segments_.lower_bound(begin), last = segments_.lower_bound(end);
  for (auto at = first; at != last; ++at) {
    if (auto problem = conflict(at->second.writes, " writes"); !problem.empty()) return problem;
    if (how == Touch::read) continue;
    if (auto problem = conflict(at->second.reads, " reads"); !problem.empty()) return problem;
  }
  if (how == Touch::read) {
    add_reader(begin, end, work);
  } else {
    segments_.emplace_hint(segments_.erase(first, last), begin, Segment{end, {work}, {}});
  }
  return "";
}

void History::add_reader(uintptr_t begin, uintptr_t end, const Work& work) {
  for (uintptr_t at = begin; at < end;) {
    auto found = segments_.lower_bound(at);
    if (found == segments_.end() || found->first > at) {  // never touched
      const uintptr_t until = found == segments_.end() ? end : std::min(end, found->first);
      found = segments_.emplace_hint(found, at, Segment{until, {}, {}});
    }
    std::vector<Work>& reads = found->second.reads;
    std::erase_if(reads, [&](const Work& other) { return is_before(other, work); });
    reads.push_back(work);
    at = found->second.end;
  }
}

void History::forget(uintptr_t begin, uintptr_t end) {
  split(begin);
  split(end);
  segments_.erase(segments_.lower_bound(begin), segments_.lower_bound(end));
}

}  // namespace keratin::simulator
