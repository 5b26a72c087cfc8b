#include "keratin/passes/rematerialize.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "keratin/ir/rewrite.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/records.h"

namespace keratin {
namespace {

using Key = std::pair<const Node*, size_t>;
Key key(Value value) { return {&value.node(), value.index()}; }

bool is_loop(const Node& node) {
  return &node.op() == &ops::fused_op && node.attr<ops::FusedAttrs>().kind == "loop" &&
         node.device().kind == Device::Kind::gpu;
}

bool is_constant(const Node& node) { return &node.op() == &ops::constant_op; }
bool is_pointwise(const Node& node) {
  return node.op().scalar.has_value() || &node.op() == &ops::broadcast_to_op;
}

// The shape that a loop runs over.
const Shape& loop_shape(const Node& loop) {
  const auto& nodes = loop.region().nodes();
  const auto first =
      std::find_if(nodes.begin(), nodes.end(), [](const auto& n) { return !is_constant(*n); });
  return is_pointwise(**first) ? (*first)->type().shape : (*first)->in().shape();
}

// The nodes that compute a result of a loop, in order, and the inputs they read; empty if there are
// too many of them to compute again.
struct Chain {
  std::vector<const Node*> nodes;
  std::vector<size_t> leaves;

  explicit Chain(Value made) {
    constexpr size_t max_work = 12;
    const Node& loop = made.node();
    std::unordered_set<const Node*> needed = {&loop.region().results[made.index()].node()};
    const auto& all = loop.region().nodes();
    size_t work = 0;
    for (size_t i = all.size(); i-- > 0;) {
      const Node& node = *all[i];
      if (!needed.contains(&node)) continue;
      if (!is_constant(node) && (!is_pointwise(node) || ++work > max_work)) {
        nodes.clear();
        return;
      }
      for (const Value& input : node.inputs()) needed.insert(&input.node());
      nodes.insert(nodes.begin(), &node);
    }
    const Values parameters = loop.region().parameter_values();
    for (size_t i = 0; i < parameters.size(); ++i)
      if (needed.contains(&parameters[i].node())) leaves.push_back(i);
  }
};

// A copy of a loop that computes some of its inputs itself.
class LoopCopy {
 public:
  explicit LoopCopy(const Node& loop)
      : loop_(loop), region_(std::make_unique<Block>(loop.region().depth())) {}

  // Computes input i instead of reading it.
  void compute(size_t i, const Chain& chain) {
    const Value made = loop_.in(i);
    const Node& maker = made.node();
    const Values parameters = maker.region().parameter_values();
    for (const size_t leaf : chain.leaves) inside_[key(parameters[leaf])] = read(maker.in(leaf));
    for (const Node* node : chain.nodes) copy(*node);
    inside_[key(loop_.region().parameter_values()[i])] =
        inside_.at(key(maker.region().results[made.index()]));
  }

  Values finish() {
    const Values parameters = loop_.region().parameter_values();
    for (size_t i = 0; i < parameters.size(); ++i)
      if (!inside_.contains(key(parameters[i]))) inside_[key(parameters[i])] = read(loop_.in(i));
    for (const auto& node : loop_.region().nodes()) copy(*node);
    for (const Value& result : loop_.region().results)
      region_->results.push_back(inside_.at(key(result)));
    Block& block = loop_.in(0).block();
    Node& made = ops::fused(block, inputs_, std::move(region_), "loop");
    made.place(loop_.device());
    return made.outputs();
  }

 private:
  Value read(Value outside) {
    Value& parameter = outside_[key(outside)];
    if (!parameter.defined()) {
      parameter = region_->parameter(outside.type());
      inputs_.push_back(outside);
    }
    return parameter;
  }

  void copy(const Node& node) {
    if (inside_.contains(key(node.out()))) return;
    Values inputs;
    for (const Value& input : node.inputs()) inputs.push_back(inside_.at(key(input)));
    inside_[key(node.out())] = region_->append(node.op(), inputs, node.attrs()).out();
  }

  const Node& loop_;
  std::unique_ptr<Block> region_;
  Values inputs_;
  std::map<Key, Value> outside_, inside_;
};

// Values that only loops read, so that they need not be in memory.
class LoopValues {
 public:
  explicit LoopValues(const Module& module) {
    for (const auto& node : module.block().nodes()) {
      if (is_loop(*node)) loops_.insert(node.get());
      for (const Value& input : node->inputs())
        if (!is_loop(*node)) needed_.insert(key(input));
    }
    for (const Value& result : module.block().results) needed_.insert(key(result));
    for (const Update& update : module.updates()) needed_.insert(key(update.value));
  }
  bool contains(Value value) const {
    return loops_.contains(&value.node()) && !needed_.contains(key(value));
  }

 private:
  struct Hash {
    size_t operator()(const Key& k) const {
      return std::hash<const Node*>()(k.first) * 31 + k.second;
    }
  };
  std::unordered_set<const Node*> loops_;
  std::unordered_set<Key, Hash> needed_;
};

std::optional<Values> visit(const Node& loop, const LoopValues& values) {
  if (!is_loop(loop)) return std::nullopt;
  const Shape& shape = loop_shape(loop);
  const auto can_compute = [&](Value input) {
    return values.contains(input) && input.shape() == shape && loop_shape(input.node()) == shape;
  };
  std::unordered_map<const Node*, std::vector<bool>> read;
  const auto is_read = [&](Value value) -> std::vector<bool>::reference {
    auto& outputs = read[&value.node()];
    outputs.resize(value.node().output_count());
    return outputs[value.index()];
  };
  for (const Value& input : loop.inputs())
    if (!can_compute(input)) is_read(input) = true;
  LoopCopy copy(loop);
  bool changed = false;
  for (size_t i = 0; i < loop.input_count(); ++i) {
    const Value input = loop.in(i);
    if (!can_compute(input)) continue;
    const Chain chain(input);
    size_t more = 0;
    for (const size_t leaf : chain.leaves) {
      const Value from = input.node().in(leaf);
      const size_t bytes = bytes_of(from.type());
      if (!is_read(from) && bytes > bytes_of(input.type()) / 64) more += bytes;
    }
    if (chain.nodes.empty() || more > bytes_of(input.type())) {
      is_read(input) = true;
      continue;
    }
    for (const size_t leaf : chain.leaves) is_read(input.node().in(leaf)) = true;
    copy.compute(i, chain);
    changed = true;
  }
  if (!changed) return std::nullopt;
  return copy.finish();
}

}  // namespace

Module rematerialize(Module module) {
  const LoopValues values(module);
  return rewrite(std::move(module), [&](const Node& node) { return visit(node, values); });
}

}  // namespace keratin
