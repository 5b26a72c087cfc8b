#include "keratin/passes/schedule_updates.h"

#include "keratin/ir/rewrite.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/records.h"
#include "keratin/ops/transfer.h"

namespace keratin {

namespace {

bool is_cheap_step(const Node& node) {
  const OpDef& op = node.op();
  return op.scalar || ops::shares_memory(node) ||
         (&op == &ops::fused_op && node.attr<ops::FusedAttrs>().kind == "loop");
}

// All tables are by the number of a node. There are three kinds of nodes: `eager` ones run as soon
// as their dependences have run, `lazy` ones before their first user, the others in the old order.
class Scheduler {
 public:
  explicit Scheduler(Module& module)
      : module_(module),
        nodes_(module.block().nodes()),
        count_(module.number()),
        position_(count_, 0),
        eager_(count_, false),
        lazy_(count_, false),
        done_(count_, false),
        waits_(count_, 0),
        before_(count_),
        after_(count_) {
    for (size_t i = 0; i < nodes_.size(); ++i) position_[nodes_[i]->id()] = i;
  }

  std::vector<size_t> run() {
    find_eager();
    find_dependences();
    find_lazy();
    for (const auto& node : nodes_)
      if (!eager_[node->id()] && !lazy_[node->id()]) schedule(node->id());
    for (const auto& node : nodes_) schedule(node->id());
    return std::move(order_);
  }

 private:
  // Cheap steps that only updates depend on, directly or through others like them.
  void find_eager() {
    std::vector<bool> feeds_update(count_, false), feeds_other(count_, false);
    for (const Update& update : module_.updates()) feeds_update[update.value.node().id()] = true;
    for (const Value& result : module_.block().results) feeds_other[result.node().id()] = true;
    for (size_t i = nodes_.size(); i-- > 0;) {
      const size_t id = nodes_[i]->id();
      eager_[id] = feeds_update[id] && !feeds_other[id] && is_cheap_step(*nodes_[i]);
      auto& feeds = eager_[id] ? feeds_update : feeds_other;
      for (const Value& input : nodes_[i]->inputs()) feeds[input.node().id()] = true;
    }
  }

  void find_dependences() {
    std::vector<size_t> maker(count_, none);  // of a state: the node that computes its new value
    for (const Update& update : module_.updates())
      if (eager_[update.value.node().id()])
        maker[update.state.node().id()] = update.value.node().id();
    for (const auto& node : nodes_) {
      const size_t reader = node->id();
      for (const Value& input : node->inputs()) {
        if (!is_parameter(input.node())) depend(reader, input.node().id());
        const size_t makes = maker[memory_of(input).id()];
        if (makes != none && makes != reader) {
          // The state is overwritten after its readers: those before it, and all that are not
          // eager. None of these waits for an eager node, so there is no cycle.
          if (!eager_[reader] || position_[reader] < position_[makes]) depend(makes, reader);
        }
      }
    }
  }

  // A reader of a view of a state reads the state.
  static const Node& memory_of(Value value) {
    while (ops::shares_memory(value.node())) value = value.node().in();
    return value.node();
  }

  void depend(size_t node, size_t on) {
    before_[node].push_back(on);
    if (eager_[node]) after_[on].push_back(node);
  }

  // Nodes that depend on parameters and lazy nodes only: run early, they would only occupy memory.
  void find_lazy() {
    for (const auto& node : nodes_) {
      const size_t id = node->id();
      for (size_t on : before_[id])
        if (!lazy_[on]) ++waits_[id];
      lazy_[id] = waits_[id] == 0 && (eager_[id] || node->input_count() == 0);
    }
  }

  // Depth first, without recursion.
  void schedule(size_t wanted) {
    std::vector<size_t> stack{wanted};
    while (!stack.empty()) {
      const size_t id = stack.back();
      const size_t height = stack.size();
      if (!done_[id])
        for (size_t on : before_[id])
          if (lazy_[on] && !done_[on]) stack.push_back(on);
      if (stack.size() > height) continue;
      stack.pop_back();
      if (done_[id]) continue;
      done_[id] = true;
      order_.push_back(position_[id]);
      for (size_t i = after_[id].size(); i-- > 0;)
        if (const size_t next = after_[id][i]; !lazy_[next] && !lazy_[id] && --waits_[next] == 0)
          stack.push_back(next);
    }
  }

  static constexpr size_t none = static_cast<size_t>(-1);

  const Module& module_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  size_t count_;
  std::vector<size_t> position_;
  std::vector<bool> eager_, lazy_, done_;
  std::vector<size_t> waits_;                        // the number of dependences that are not lazy
  std::vector<std::vector<size_t>> before_, after_;  // after_: eager ones only
  std::vector<size_t> order_;
};

}  // namespace

Module schedule_updates(Module module) {
  const std::vector<size_t> order = Scheduler(module).run();
  return reorder_nodes(std::move(module), order);
}

}  // namespace keratin
