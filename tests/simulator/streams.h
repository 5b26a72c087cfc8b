#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "history.h"
#include "machine.h"
#include "mode.h"

// Streams, events and graphs, as strict as CUDA's: what nobody waits for does not run, and what
// does not depend on each other is done in any order.
namespace keratin::simulator {

// Results of CUDA's driver.
inline constexpr int success = 0, invalid_value = 1, out_of_memory = 2, invalid_device = 101,
                     invalid_image = 200, not_found = 500, launch_failed = 719,
                     capture_unsupported = 900, capture_invalidated = 901, capture_isolated = 905;

// A position in a stream: reached when everything before it is done.
struct Mark {
  Stream* stream = nullptr;
  bool done = false;
  Clock clock = {};  // what it comes after
};

struct Event {
  std::shared_ptr<Mark> mark;  // of the last record; none counts as done
};

struct Order {
  std::function<void()> work;
  std::shared_ptr<Mark> waits_for = nullptr;
  Event* records = nullptr;  // each time that a graph comes to it
  Work who = {};
};

struct GraphNode {
  std::function<void()> work;
  std::vector<GraphNode*> after;
  Event* records = nullptr;
};
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
};
struct GraphExec {
  struct Node {
    std::function<void()> work;
    std::vector<size_t> after;
    Nodes all_before;
    Event* records = nullptr;
  };
  std::vector<Node> nodes;
};

struct Stream {
  const uint64_t id = ++made;
  std::deque<Order> orders;
  uint64_t ordered = 0;  // how many
  Clock clock;           // what it waits for
  std::vector<std::shared_ptr<Position>> unheard;
  std::unique_ptr<Graph> capture;
  std::vector<GraphNode*> capture_after;  // what the next node depends on
  bool capture_is_broken = false;

  static inline uint64_t made = 0;
};

// All that the GPUs of a process share. Whoever calls holds the lock.
class Machine {
 public:
  int order(Stream& stream, Order order);
  int record(Event& event, Stream& stream, bool for_others);
  int launch_graph(GraphExec& graph, Stream& stream);
  int invalidate(Stream& stream, int result);  // what it captures; the result is given back
  int synchronize(Stream& stream);
  int synchronize(const std::shared_ptr<Mark>& mark);
  void finish_everything();
  // The host hears that all of it is done.
  void hear_everything();
  void report(uintptr_t begin, uintptr_t end, Touch how);
  // A launch failed: reported to the next call that waits.
  void complain(const std::string& words);
  int take_failure();

  std::recursive_mutex lock;
  std::set<Stream*> streams;
  History history;
  Work working;  // on what, while work is done
  const bool checked = is_set("checked");

 private:
  void hear(uint64_t stream, uint64_t number);
  void hear(const Clock& clock);
  const bool eager_ = is_set("eager");
  bool failed_ = false;
  uint64_t moment_ = 0;
  uint64_t graph_launches_ = 0;
};

Machine& machine();

}  // namespace keratin::simulator
