#include "keratin/graph/topology.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "keratin/graph/input.h"

namespace keratin {
namespace {

// What a call depends on: the calls its arguments come from, then those its masks come from, each
// with the number of ops in between that Keras counts.
struct Parent {
  const SymbolicTensor* tensor = nullptr;  // of arguments
  NodePtr node;
  int64_t hops = 0;
};

std::vector<Parent> parents_of(const CallNode& node) {
  std::vector<Parent> parents;
  for (const SymbolicTensor& t : node.inputs()) parents.push_back({&t, t.node_ptr(), 0});
  if (!node.layer()->takes_mask()) return parents;
  // Keras fills in the mask of the only argument that holds tensors.
  const auto& arguments = node.arguments();
  if (arguments.with_tensors() != 1 || arguments.positional.empty()) return parents;
  arguments.positional[0].each([&](const SymbolicTensor& t) {
    for (const MaskSource& source : t.spec().mask_sources)
      parents.push_back({nullptr, source.node, source.hops});
  });
  return parents;
}

// The way to a tensor in a structure: "", "1", "heads.0".
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
  struct Frame {
    NodePtr node;
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
        enter(stack, parent.node, parent.tensor, frame.node->layer()->name());
        continue;
      }
      finished_[frame.node.get()] = true;
      post_order_.push_back(frame.node);
      stack.pop_back();
    }
  }

  void enter(std::vector<Frame>& stack, const NodePtr& node, const SymbolicTensor* tensor,
             const std::string& from) {
    const auto [known, added] = finished_.emplace(node.get(), false);
    if (!added && known->second) return;
    require(added, "Tensor ", from, " from operation '", node->layer()->name(),
            "' is part of a cycle.");
    layer_indices_.emplace(node->layer().get(), layer_indices_.size());
    const bool stops = node->is_input() || (tensor != nullptr ? input_tensors_.contains(*tensor)
                                                              : input_nodes_.contains(node.get()));
    stack.push_back({node, stops ? std::vector<Parent>() : parents_of(*node)});
    if (stops) stopped_.insert(node.get());
  }

  int64_t& depth_of(const NodePtr& node) {
    const auto [found, added] = depths_.emplace(node.get(), 0);
    if (added) by_depth_order_.push_back(node);
    return found->second;
  }

  // From the outputs back. A layer that is called several times pulls all its calls to the greatest
  // depth of any.
  void set_depths() {
    depths_.reserve(post_order_.size());
    layer_depths_.reserve(layer_indices_.size());
    for (auto it = post_order_.rbegin(); it != post_order_.rend(); ++it) {
      const NodePtr& node = *it;
      const Layer* layer = node->layer().get();
      const auto [known, added] = layer_depths_.emplace(layer, 0);
      if (added) layers_.push_back(node->layer());
      const int64_t depth = std::max(depth_of(node), known->second);
      known->second = depth;
      depth_of(node) = depth;
      if (stopped_.contains(node.get())) continue;
      for (const Parent& parent : parents_of(*node)) {
        int64_t& theirs = depth_of(parent.node);
        theirs = std::max(theirs, depth + 1 + parent.hops);
      }
    }
  }

  void add_unused_inputs() {
    for (const SymbolicTensor& t : inputs_) {
      const LayerPtr& layer = t.layer();
      if (layer_depths_.contains(layer.get())) continue;
      layer_depths_.emplace(layer.get(), 0);
      layers_.push_back(layer);
      unused_.insert(layer.get());
      depth_of(t.node_ptr()) = 0;
    }
  }

  Topology ordered() {
    Topology topology;
    topology.nodes = by_depth_order_;
    topology.slots.reserve(topology.nodes.size());
    const auto depth = [&](const NodePtr& n) { return depths_.at(n.get()); };
    std::stable_sort(topology.nodes.begin(), topology.nodes.end(),
                     [&](const NodePtr& a, const NodePtr& b) { return depth(a) > depth(b); });
    for (const NodePtr& node : topology.nodes) {
      topology.depths.push_back(depth(node));
      topology.slots.emplace(node.get(), topology.slot_count);
      topology.slot_count += node->outputs().size();
    }
    const auto index = [&](const Layer* layer) {
      return unused_.contains(layer) ? int64_t{-1} : static_cast<int64_t>(layer_indices_.at(layer));
    };
    topology.layers = layers_;
    std::stable_sort(topology.layers.begin(), topology.layers.end(),
                     [&](const LayerPtr& a, const LayerPtr& b) {
                       const int64_t deep_a = layer_depths_.at(a.get());
                       const int64_t deep_b = layer_depths_.at(b.get());
                       return deep_a != deep_b ? deep_a > deep_b : index(a.get()) < index(b.get());
                     });
    return topology;
  }

  void check_connected(const Topology& topology) const {
    std::unordered_set<const CallNode*> computed;
    computed.reserve(topology.nodes.size());
    const auto computable = [&](const SymbolicTensor& t) {
      return computed.contains(&t.node()) || input_tensors_.contains(t);
    };
    std::string problem, seen;  // the first, and what came before it
    const auto note = [&](const SymbolicTensor& missing, const std::string& operation) {
      if (problem.empty())
        problem =
            text("Graph disconnected: cannot find parent for tensor ", missing, " at operation '",
                 operation, "'. The following previous operations were accessed without issue: [",
                 seen, "]");
    };
    for (const NodePtr& node : topology.nodes) {
      if (node->is_input()) {
        if (!input_nodes_.contains(node.get()))
          note(SymbolicTensor::output(node, 0), consumer_of(topology, *node));
        continue;
      }
      const auto& needed = node->inputs();
      const auto missing = std::find_if_not(needed.begin(), needed.end(), computable);
      if (missing != needed.end() && !stopped_.contains(node.get())) {
        note(*missing, node->layer()->name());
        continue;
      }
      if (seen.size() < 2000) seen += (seen.empty() ? "'" : ", '") + node->layer()->name() + "'";
      computed.insert(node.get());
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
    std::unordered_map<std::string, size_t> counts;
    for (const LayerPtr& layer : topology.layers) ++counts[layer->name()];
    for (const LayerPtr& layer : topology.layers)
      require(counts[layer->name()] == 1, "The name \"", layer->name(), "\" is used ",
              counts[layer->name()], " times in the model. All operation names should be unique.");
  }

  const std::vector<SymbolicTensor>& inputs_;
  const Symbols& structure_;  // of the outputs
  const std::vector<SymbolicTensor> outputs_;
  std::unordered_set<SymbolicTensor, SymbolicHash> input_tensors_;
  std::unordered_set<const CallNode*> input_nodes_, stopped_;
  std::unordered_map<const CallNode*, bool> finished_;  // false while its parents are visited
  std::vector<NodePtr> post_order_;
  std::unordered_map<const Layer*, size_t> layer_indices_;
  std::unordered_map<const CallNode*, int64_t> depths_;
  std::vector<NodePtr> by_depth_order_;  // in the order in which depths became known
  std::unordered_map<const Layer*, int64_t> layer_depths_;
  std::vector<LayerPtr> layers_;
  std::unordered_set<const Layer*> unused_;
};

}  // namespace

Topology map_graph(const std::vector<SymbolicTensor>& inputs, const Symbols& outputs) {
  return Mapper(inputs, outputs).run();
}

}  // namespace keratin
