#include "keratin/graph/topology.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/ir/node.h"

namespace keratin {
namespace {

// A call that another one depends on, for its arguments or its masks, and the number of ops between
// the two that Keras counts.
struct Parent {
  const SymbolicTensor* tensor = nullptr;  // of arguments
  const NodePtr* node = nullptr;
  int64_t hops = 0;
};

std::vector<Parent> parents_of(const CallNode& node) {
  std::vector<Parent> parents;
  for (const SymbolicTensor& t : node.inputs()) parents.push_back({&t, &t.node_ptr(), 0});
  if (!node.layer()->takes_mask()) return parents;
  // Keras fills in the mask of the only argument that holds tensors.
  if (node.arguments().with_tensors() != 1) return parents;
  for (const SymbolicTensor& t : node.inputs())
    for (const MaskSource& source : t.spec().mask_sources)
      parents.push_back({nullptr, &source.node, source.hops});
  return parents;
}

// The path to a tensor in a structure: "", "1", "heads.0".
std::string path_to(const Symbols& tree, size_t index) {
  if (tree.is_leaf()) return "";
  const auto inside = [&](const std::string& key, const Symbols& item) {
    const std::string rest = path_to(item, index);
    return rest.empty() ? key : key + "." + rest;
  };
  if (tree.is_list())
    for (size_t i = 0; i < tree.list().size(); ++i) {
      const size_t count = tree.list()[i].leaf_count();
      if (index < count) return inside(std::to_string(i), tree.list()[i]);
      index -= count;
    }
  if (tree.is_dict())
    for (const auto& [key, item] : tree.dict()) {
      const size_t count = item.leaf_count();
      if (index < count) return inside(key, item);
      index -= count;
    }
  return "";
}

class Mapper {
 public:
  Mapper(const std::vector<SymbolicTensor>& inputs, const Symbols& outputs)
      : inputs_(inputs), structure_(outputs), outputs_(outputs.flat()) {
    for (const SymbolicTensor& t : inputs_) {
      input_tensors_.insert(t);
      input_nodes_.insert(&t.node());
    }
  }

  Topology run() {
    for (const SymbolicTensor& output : outputs_) visit(output);
    set_depths();
    add_unused_inputs();
    Topology topology = ordered();
    check_connected(topology);
    check_names(topology);
    return topology;
  }

 private:
  // Facts about a call, and about a layer, in one struct each: lookups in large graphs miss the
  // cache.
  struct CallInfo {
    const NodePtr& node;
    bool finished = false;  // its parents were visited
    bool stopped = false;   // it is an input of the model, so its parents do not matter
    bool computed = false;
    std::optional<int64_t> depth = {};
  };
  struct LayerInfo {
    int64_t index = 0;  // in the order of the visit; -1 for unused inputs
    std::optional<int64_t> depth = {};
  };
  struct Frame {
    CallInfo* call;
    std::vector<Parent> parents;
    size_t next = 0;
  };

  // Depth first, without recursion: a frame stands for a call whose parents are being visited.
  void visit(const SymbolicTensor& output) {
    std::vector<Frame> stack;
    enter(stack, output.node_ptr(), &output, output.name());
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next < frame.parents.size()) {
        const Parent parent = frame.parents[frame.next++];
        enter(stack, *parent.node, parent.tensor, frame.call->node->layer()->name());
        continue;
      }
      frame.call->finished = true;
      post_order_.push_back(frame.call);
      stack.pop_back();
    }
  }

  void enter(std::vector<Frame>& stack, const NodePtr& node, const SymbolicTensor* tensor,
             const std::string& from) {
    const auto [known, added] = calls_.try_emplace(node.get(), CallInfo{node});
    CallInfo& call = known->second;
    if (!added && call.finished) return;
    require(added, "Tensor ", from, " from operation '", node->layer()->name(),
            "' is part of a cycle.");
    layers_.try_emplace(node->layer().get(), LayerInfo{static_cast<int64_t>(layers_.size())});
    call.stopped = node->is_input() || (tensor != nullptr ? input_tensors_.contains(*tensor)
                                                          : input_nodes_.contains(node.get()));
    stack.push_back({&call, call.stopped ? std::vector<Parent>() : parents_of(*node)});
  }

  int64_t& depth_of(CallInfo& call) {
    if (!call.depth) by_depth_order_.push_back(&call);
    return call.depth ? *call.depth : call.depth.emplace(0);
  }

  // From the outputs back. All calls of a layer get the greatest depth of any of them.
  void set_depths() {
    for (auto it = post_order_.rbegin(); it != post_order_.rend(); ++it) {
      CallInfo& call = **it;
      LayerInfo& layer = layers_.at(call.node->layer().get());
      if (!layer.depth) layer_order_.push_back({call.node->layer(), &layer});
      const int64_t depth = std::max(depth_of(call), layer.depth.value_or(0));
      layer.depth = depth;
      call.depth = depth;
      if (call.stopped) continue;
      for (const Parent& parent : parents_of(*call.node)) {
        int64_t& theirs = depth_of(calls_.at(parent.node->get()));
        theirs = std::max(theirs, depth + 1 + parent.hops);
      }
    }
  }

  void add_unused_inputs() {
    for (const SymbolicTensor& t : inputs_) {
      const LayerPtr& layer = t.layer();
      const auto [known, added] = layers_.try_emplace(layer.get(), LayerInfo{-1, 0});
      if (!added) continue;
      layer_order_.push_back({layer, &known->second});
      depth_of(calls_.try_emplace(&t.node(), CallInfo{t.node_ptr()}).first->second) = 0;
    }
  }

  Topology ordered() {
    Topology topology;
    std::stable_sort(by_depth_order_.begin(), by_depth_order_.end(),
                     [](const CallInfo* a, const CallInfo* b) { return *a->depth > *b->depth; });
    topology.slots.reserve(by_depth_order_.size());
    for (const CallInfo* call : by_depth_order_) {
      topology.nodes.push_back(call->node);
      topology.depths.push_back(*call->depth);
      topology.slots.emplace(call->node.get(), topology.slot_count);
      topology.slot_count += call->node->outputs().size();
    }
    std::stable_sort(layer_order_.begin(), layer_order_.end(), [](const auto& a, const auto& b) {
      const LayerInfo &one = *a.second, &other = *b.second;
      return one.depth != other.depth ? one.depth > other.depth : one.index < other.index;
    });
    for (const auto& [layer, info] : layer_order_) topology.layers.push_back(layer);
    return topology;
  }

  void check_connected(const Topology& topology) {
    const auto computable = [&](const SymbolicTensor& t) {
      const auto call = calls_.find(&t.node());
      return (call != calls_.end() && call->second.computed) || input_tensors_.contains(t);
    };
    std::string problem, seen;  // the first problem, and the layers before it
    const auto note = [&](const SymbolicTensor& missing, const std::string& operation) {
      if (problem.empty())
        problem =
            text("Graph disconnected: cannot find parent for tensor ", missing, " at operation '",
                 operation, "'. The following previous operations were accessed without issue: [",
                 seen, "]");
    };
    for (CallInfo* call : by_depth_order_) {
      const NodePtr& node = call->node;
      if (node->is_input()) {
        if (!input_nodes_.contains(node.get()))
          note(SymbolicTensor::output(node, 0), consumer_of(topology, *node));
        continue;
      }
      const auto& needed = node->inputs();
      const auto missing = std::find_if_not(needed.begin(), needed.end(), computable);
      if (missing != needed.end() && !call->stopped) {
        note(*missing, node->layer()->name());
        continue;
      }
      if (seen.size() < 2000) seen += (seen.empty() ? "'" : ", '") + node->layer()->name() + "'";
      call->computed = true;
    }
    for (size_t i = 0; i < outputs_.size(); ++i)
      require(computable(outputs_[i]), "Output with path `", path_to(structure_, i),
              "` is not connected to `inputs`. ", problem);
    require(problem.empty(), problem);
  }

  static std::string consumer_of(const Topology& topology, const CallNode& input) {
    for (const NodePtr& node : topology.nodes)
      for (const SymbolicTensor& t : node->inputs())
        if (&t.node() == &input) return node->layer()->name();
    return input.layer()->name();
  }

  static void check_names(const Topology& topology) {
    std::unordered_map<std::string_view, size_t> counts;
    counts.reserve(topology.layers.size());
    for (const LayerPtr& layer : topology.layers) ++counts[layer->name()];
    if (counts.size() == topology.layers.size()) return;
    for (const LayerPtr& layer : topology.layers)
      require(counts[layer->name()] == 1, "The name \"", layer->name(), "\" is used ",
              counts[layer->name()], " times in the model. All operation names should be unique.");
  }

  const std::vector<SymbolicTensor>& inputs_;
  const Symbols& structure_;  // of the outputs
  const std::vector<SymbolicTensor> outputs_;
  std::unordered_set<SymbolicTensor, SymbolicHash> input_tensors_;
  std::unordered_set<const CallNode*> input_nodes_;
  std::unordered_map<const CallNode*, CallInfo> calls_;
  std::unordered_map<const Layer*, LayerInfo> layers_;
  std::vector<CallInfo*> post_order_;
  std::vector<CallInfo*> by_depth_order_;  // in the order in which depths were found
  std::vector<std::pair<LayerPtr, const LayerInfo*>> layer_order_;
};

}  // namespace

Topology map_graph(const std::vector<SymbolicTensor>& inputs, const Symbols& outputs) {
  return Mapper(inputs, outputs).run();
}

}  // namespace keratin
