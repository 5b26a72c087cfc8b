#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "touches.h"

namespace keratin::simulator {

// Where work stands: in which stream, after how much other work there, and between which moments of
// the host it was ordered and heard of as done.
struct Position {
  uint64_t stream = 0, number = 0;
  uint64_t ordered_at = 0, heard_at = std::numeric_limits<uint64_t>::max();
};

// Some of the nodes of a graph.
using Nodes = std::shared_ptr<const std::vector<bool>>;

// What work comes after, of other streams: all up to a number, and some nodes of a graph.
class Clock {
 public:
  void add(uint64_t stream, uint64_t number);
  void add(const Position& launch, const Nodes& nodes) {
    graphs_[{launch.stream, launch.number}] = nodes;
  }
  void join(const Clock& other);
  bool has(const Position& position, size_t node) const;
  // Calls f(stream, number) for all of it; nodes of a graph do not count.
  template <class F>
  void each(const F& f) const {
    for (const auto& [stream, number] : numbers_) f(stream, number);
  }

 private:
  std::map<uint64_t, uint64_t> numbers_;
  std::map<std::pair<uint64_t, uint64_t>, Nodes> graphs_;
};

// One kernel, copy or call of a library, by itself or as a node of a graph.
struct Work {
  std::shared_ptr<const Position> position;
  std::shared_ptr<const Clock> after;
  size_t node = 0;
  Nodes nodes_before = nullptr;  // of the same graph
  std::string name = "a library";
};

// Which work touched which memory last. Work that nothing puts in order may be done at the same
// time.
class History {
 public:
  // What is wrong with it, or nothing.
  std::string add(uintptr_t begin, uintptr_t end, Touch how, const Work& work);
  void forget(uintptr_t begin, uintptr_t end);

 private:
  struct Segment {
    uintptr_t end = 0;
    std::vector<Work> writes, reads;  // one write at most; reads since then
  };
  void split(uintptr_t at);
  void add_reader(uintptr_t begin, uintptr_t end, const Work& work);

  std::map<uintptr_t, Segment> segments_;  // by first address
};

}  // namespace keratin::simulator
