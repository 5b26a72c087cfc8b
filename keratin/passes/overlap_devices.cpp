#include "keratin/passes/overlap_devices.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <unordered_map>

#include "keratin/ir/rewrite.h"
#include "keratin/ops/flops.h"
#include "keratin/ops/transfer.h"

namespace keratin {
namespace {

// Rough estimates in seconds; only their ratios matter.
constexpr double per_node = 1e-6, per_flop = 1e-11, per_byte = 1e-10;

double seconds(const Node& node) {
  if (ops::shares_memory(node)) return 0;
  double bytes = 0;
  const auto add = [&](const Type& type) {
    if (type.shape.known()) bytes += static_cast<double>(bytes_of(type));
  };
  for (const Value& input : node.inputs()) add(input.type());
  for (const Type& type : node.types()) add(type);
  return per_node + per_flop * flops(node) + per_byte * bytes;
}

// All tables are by the position of a node.
class Simulation {
 public:
  explicit Simulation(const Module& module)
      : nodes_(module.block().nodes()),
        open_(nodes_.size(), 0),
        ready_(nodes_.size(), 0.0),
        followers_(nodes_.size()) {
    for (size_t i = 0; i < nodes_.size(); ++i) device_of_.push_back(device(nodes_[i]->device()));
    find_dependences(module);
    find_awaited();
  }

  std::vector<size_t> run() {
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (open_[i] == 0) waiting_[device_of_[i]].push({ready_[i], i});
    while (order_.size() < nodes_.size()) {
      const size_t d = next_device();
      admit(d);
      const size_t i = now_[d].top().second;
      now_[d].pop();
      order_.push_back(i);
      clocks_[d] += seconds(*nodes_[i]);
      for (const size_t follower : followers_[i]) {
        ready_[follower] = std::max(ready_[follower], clocks_[d]);
        if (--open_[follower] == 0)
          waiting_[device_of_[follower]].push({ready_[follower], follower});
      }
    }
    return std::move(order_);
  }

 private:
  struct Waiting {
    double ready;
    size_t node;
    bool operator>(const Waiting& other) const {
      return std::pair(ready, node) > std::pair(other.ready, other.node);
    }
  };
  template <class T>
  using First = std::priority_queue<T, std::vector<T>, std::greater<>>;

  size_t device(Device device) {
    const auto known = std::find(devices_.begin(), devices_.end(), device);
    if (known != devices_.end()) return static_cast<size_t>(known - devices_.begin());
    devices_.push_back(device);
    clocks_.push_back(0);
    waiting_.emplace_back();
    now_.emplace_back();
    return devices_.size() - 1;
  }

  // A node comes after its inputs; a node that computes a new state comes after all nodes that read
  // the old one, since it may be computed in place.
  void find_dependences(const Module& module) {
    constexpr size_t none = std::numeric_limits<size_t>::max();
    std::unordered_map<const Node*, size_t> position, maker;
    for (size_t i = 0; i < nodes_.size(); ++i) position[nodes_[i].get()] = i;
    for (const Update& update : module.updates())
      if (const auto found = position.find(&update.value.node()); found != position.end())
        maker[&update.state.node()] = found->second;
    for (size_t i = 0; i < nodes_.size(); ++i)
      for (const Value& input : nodes_[i]->inputs()) {
        const auto source = position.find(&input.node());
        if (source != position.end()) depend(i, source->second);
        const auto made = maker.find(&memory_of(input));
        const size_t makes = made == maker.end() ? none : made->second;
        if (makes != none && makes > i) depend(makes, i);
      }
  }

  // A reader of a view of a state reads the state.
  static const Node& memory_of(Value value) {
    while (!is_parameter(value.node()) && ops::shares_memory(value.node()))
      value = value.node().in();
    return value.node();
  }

  void find_awaited() {
    awaited_.assign(nodes_.size(), false);
    for (size_t i = nodes_.size(); i-- > 0;)
      awaited_[i] = !followers_[i].empty() &&
                    std::all_of(followers_[i].begin(), followers_[i].end(), [&](size_t follower) {
                      return device_of_[follower] != device_of_[i] || awaited_[follower];
                    });
  }

  void depend(size_t node, size_t on) {
    followers_[on].push_back(node);
    ++open_[node];
  }

  // Moves the nodes that are ready by the device's clock to its queue.
  void admit(size_t d) {
    if (now_[d].empty()) clocks_[d] = std::max(clocks_[d], waiting_[d].top().ready);
    while (!waiting_[d].empty() && waiting_[d].top().ready <= clocks_[d]) {
      const size_t node = waiting_[d].top().node;
      now_[d].push({!awaited_[node], node});
      waiting_[d].pop();
    }
  }

  // The device that can start a node first.
  size_t next_device() const {
    size_t best = 0;
    double earliest = std::numeric_limits<double>::infinity();
    for (size_t d = 0; d < clocks_.size(); ++d) {
      if (now_[d].empty() && waiting_[d].empty()) continue;
      const double start =
          now_[d].empty() ? std::max(clocks_[d], waiting_[d].top().ready) : clocks_[d];
      if (start >= earliest) continue;
      earliest = start;
      best = d;
    }
    return best;
  }

  const std::vector<std::unique_ptr<Node>>& nodes_;
  std::vector<size_t> open_;   // dependences that have not run yet
  std::vector<double> ready_;  // when the last dependence so far finished
  std::vector<std::vector<size_t>> followers_;
  std::vector<size_t> device_of_;
  std::vector<Device> devices_;
  std::vector<double> clocks_;
  std::vector<First<Waiting>> waiting_;
  std::vector<First<std::pair<bool, size_t>>> now_;  // awaited ones first, then in order
  std::vector<bool> awaited_;  // used by other devices only, which should wait as short as possible
  std::vector<size_t> order_;
};

}  // namespace

Module overlap_devices(Module module) {
  const auto& nodes = module.block().nodes();
  const bool together = std::all_of(nodes.begin(), nodes.end(), [&](const auto& node) {
    return node->device() == nodes[0]->device();
  });
  if (together) return module;
  const std::vector<size_t> order = Simulation(module).run();
  return reorder_nodes(std::move(module), order);
}

}  // namespace keratin
