#include "keratin/passes/fuse_sums.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "keratin/ir/gather.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/passes/users.h"

namespace keratin {
namespace {

using Claimed = std::function<bool(const Node&)>;

Dims leading_axes(const Shape& shape) {
  Dims axes(static_cast<size_t>(shape.rank() - 1));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// True for a sum over all axes but the last.
bool is_sum_of_rows(const Node& node) {
  if (&node.op() != &ops::sum_op || !is_float(node.type().dtype)) return false;
  const Shape& shape = node.in().shape();
  const auto& attrs = node.attr<ops::ReduceAttrs>();
  return shape.known() && shape.rank() >= 2 && !attrs.keepdims && attrs.axes == leading_axes(shape);
}

bool is_fused(const Node& node) { return &node.op() == &ops::fused_op; }

// The matmul of a node: itself, or the anchor of an epilogue.
const Node* matmul_of(const Node& node) {
  if (&node.op() == &ops::matmul_op) return &node;
  if (!is_fused(node) || node.attr<ops::FusedAttrs>().kind != "epilogue") return nullptr;
  for (const auto& inner : node.region().nodes())
    if (&inner->op() == &ops::matmul_op) return inner.get();
  return nullptr;
}

// The inputs of a node that its matmul contracts over rows.
std::vector<size_t> row_operands_of(const Node& producer, const Node& matmul) {
  const auto [transpose_a, transpose_b] = matmul.attr<ops::MatmulAttrs>();
  const bool adds_rows[] = {transpose_a, !transpose_b};
  std::vector<size_t> operands;
  for (const size_t i : {size_t{1}, size_t{0}}) {
    if (!adds_rows[i]) continue;
    if (&matmul == &producer) {
      operands.push_back(i);
      continue;
    }
    const Values all = producer.region().parameter_values();
    const auto found = std::find(all.begin(), all.end(), matmul.in(i));
    if (found != all.end()) operands.push_back(static_cast<size_t>(found - all.begin()));
  }
  return operands;
}

// A matmul (with its epilogue) and a sum: of one of its inputs, or of its result.
struct Pair {
  Node* producer = nullptr;
  Node* sum = nullptr;
  std::optional<size_t> operand = {};

  Gather::Group group() const {
    return producer->position() < sum->position() ? Gather::Group{producer, sum}
                                                  : Gather::Group{sum, producer};
  }
};

std::unique_ptr<Block> make_region(const Pair& pair, size_t depth) {
  auto region = std::make_unique<Block>(depth);
  const Node& producer = *pair.producer;
  Values inputs;
  for (const Value& input : producer.inputs()) inputs.push_back(region->parameter(input.type()));
  const Value made = is_fused(producer)
                         ? inline_block(producer.region(), *region, inputs).front()
                         : region->append(producer.op(), inputs, producer.attrs()).out();
  const Value summed = pair.operand ? inputs[*pair.operand] : made;
  region->results = {made, ops::sum(summed, leading_axes(summed.shape()))};
  return region;
}

Node& fuse(Block& block, const Values& inputs, const Pair& pair) {
  Node& fused = ops::fused(block, inputs, make_region(pair, block.depth() + 1), "summed");
  fused.place(pair.producer->device());
  return fused;
}

// Checks a copy, since nodes cannot be removed from a block.
bool is_claimed(const Pair& pair, const Claimed& claimed) {
  Module alone;
  Values inputs;
  for (const Value& input : pair.producer->inputs()) inputs.push_back(alone.input(input.type()));
  return claimed(fuse(alone.block(), inputs, pair));
}

// The value that shares its memory and is no view.
Value source_of(Value value) {
  while (value.node().op().view) value = value.node().in();
  return value;
}

class PairFinder {
 public:
  PairFinder(const Block& block, const Claimed& claimed)
      : block_(block), claimed_(claimed), users_(block), taken_(block) {
    for (const auto& node : block.nodes())
      if (const Node* matmul = matmul_of(*node))
        for (const size_t operand : row_operands_of(*node, *matmul))
          readers_[key(source_of(node->in(operand)))].push_back(
              {.producer = node.get(), .operand = operand});
  }

  std::vector<Pair> find() {
    std::vector<Pair> pairs;
    for (const auto& node : block_.nodes()) {
      if (!is_sum_of_rows(*node)) continue;
      for (Pair pair : candidates(*node)) {
        pair.sum = node.get();
        if (!fits(pair)) continue;
        taken_[*pair.producer] = true;
        pairs.push_back(pair);
        break;
      }
    }
    return pairs;
  }

 private:
  using Key = std::pair<const Node*, size_t>;
  static Key key(Value value) { return {&value.node(), value.index()}; }

  // Matmuls that read the value come first: later steps wait for the matmul that computes it.
  std::vector<Pair> candidates(const Node& sum) const {
    std::vector<Pair> all;
    if (const auto found = readers_.find(key(source_of(sum.in()))); found != readers_.end())
      all = found->second;
    if (matmul_of(sum.in().node()) != nullptr) all.push_back({.producer = &sum.in().node()});
    return all;
  }

  bool fits(const Pair& pair) const {
    const Node& producer = *pair.producer;
    const Value summed = pair.operand ? producer.in(*pair.operand) : producer.out();
    return !taken_[producer] && producer.device() == pair.sum->device() &&
           summed.shape().back() == pair.sum->type().shape.back() && can_meet(pair.group()) &&
           is_claimed(pair, claimed_);
  }

  // The pair runs where the later one was, so no user of the earlier one may come before.
  bool can_meet(const Gather::Group& group) const {
    const auto users = users_.of(*group[0]);
    return std::all_of(users.begin(), users.end(), [&](const Node* user) {
      return user == group[1] || user->position() > group[1]->position();
    });
  }

  const Block& block_;
  const Claimed& claimed_;
  const Users users_;
  BlockTable<bool> taken_;
  std::map<Key, std::vector<Pair>> readers_;
};

}  // namespace

Module fuse_sums(Module module, const Claimed& claimed) {
  std::unordered_map<const Node*, Pair> pairs;  // by the first node of the pair
  const auto find = [&](const Block& block) {
    std::vector<Gather::Group> groups;
    for (const Pair& pair : PairFinder(block, claimed).find()) {
      groups.push_back(pair.group());
      pairs[groups.back()[0]] = pair;
    }
    return groups;
  };
  const auto merge = [&](Block& block, const Gather::Group& group) -> std::vector<Values> {
    const Pair& pair = pairs.at(group[0]);
    const auto& inputs = pair.producer->inputs();
    const Node& fused = fuse(block, {inputs.begin(), inputs.end()}, pair);
    const Values producer = {fused.out(0)}, sum = {fused.out(1)};
    return group[0] == pair.producer ? std::vector{producer, sum} : std::vector{sum, producer};
  };
  // Not in regions: the results of a loop's body may be stored anywhere.
  return gather(std::move(module), {find, merge, [](const Node&) { return false; }});
}

}  // namespace keratin
