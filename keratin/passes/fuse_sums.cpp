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

// One number for each element of the last axis.
bool is_sum_of_rows(const Node& node) {
  if (&node.op() != &ops::sum_op || !is_float(node.type().dtype)) return false;
  const Shape& shape = node.in().shape();
  const auto& attrs = node.attr<ops::ReduceAttrs>();
  return shape.known() && shape.rank() >= 2 && !attrs.keepdims && attrs.axes == leading_axes(shape);
}

bool is_fused(const Node& node) { return &node.op() == &ops::fused_op; }

// What a product is led by: itself, or the matmul of its epilogue.
const Node* matmul_of(const Node& node) {
  if (&node.op() == &ops::matmul_op) return &node;
  if (!is_fused(node) || node.attr<ops::FusedAttrs>().kind != "epilogue") return nullptr;
  for (const auto& inner : node.region().nodes())
    if (&inner->op() == &ops::matmul_op) return inner.get();
  return nullptr;
}

// The inputs of a product that are factors whose rows are added up.
std::vector<size_t> factors_of(const Node& product, const Node& matmul) {
  const auto [transpose_a, transpose_b] = matmul.attr<ops::MatmulAttrs>();
  const bool adds_rows[] = {transpose_a, !transpose_b};
  std::vector<size_t> factors;
  for (const size_t i : {size_t{1}, size_t{0}}) {
    if (!adds_rows[i]) continue;
    if (&matmul == &product) {
      factors.push_back(i);
      continue;
    }
    const Values all = product.region().parameter_values();
    const auto found = std::find(all.begin(), all.end(), matmul.in(i));
    if (found != all.end()) factors.push_back(static_cast<size_t>(found - all.begin()));
  }
  return factors;
}

// A product and what it might sum: one of its inputs, or else its result.
struct Pair {
  Node* product = nullptr;
  Node* sum = nullptr;
  std::optional<size_t> factor = {};

  Gather::Group group() const {
    return product->position() < sum->position() ? Gather::Group{product, sum}
                                                 : Gather::Group{sum, product};
  }
};

std::unique_ptr<Block> make_region(const Pair& pair, size_t depth) {
  auto region = std::make_unique<Block>(depth);
  const Node& product = *pair.product;
  Values inputs;
  for (const Value& input : product.inputs()) inputs.push_back(region->parameter(input.type()));
  const Value made = is_fused(product)
                         ? inline_block(product.region(), *region, inputs).front()
                         : region->append(product.op(), inputs, product.attrs()).out();
  const Value summed = pair.factor ? inputs[*pair.factor] : made;
  region->results = {made, ops::sum(summed, leading_axes(summed.shape()))};
  return region;
}

Node& fuse(Block& block, const Values& inputs, const Pair& pair) {
  Node& fused = ops::fused(block, inputs, make_region(pair, block.depth() + 1), "summed");
  fused.place(pair.product->device());
  return fused;
}

// Asked of a copy: a block forgets no node.
bool is_claimed(const Pair& pair, const Claimed& claimed) {
  Module alone;
  Values inputs;
  for (const Value& input : pair.product->inputs()) inputs.push_back(alone.input(input.type()));
  return claimed(fuse(alone.block(), inputs, pair));
}

// What a value is a view of: the same memory.
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
        for (const size_t factor : factors_of(*node, *matmul))
          readers_[key(source_of(node->in(factor)))].push_back(
              {.product = node.get(), .factor = factor});
  }

  std::vector<Pair> find() {
    std::vector<Pair> pairs;
    for (const auto& node : block_.nodes()) {
      if (!is_sum_of_rows(*node)) continue;
      for (Pair pair : candidates(*node)) {
        pair.sum = node.get();
        if (!fits(pair)) continue;
        taken_[*pair.product] = true;
        pairs.push_back(pair);
        break;
      }
    }
    return pairs;
  }

 private:
  using Key = std::pair<const Node*, size_t>;
  static Key key(Value value) { return {&value.node(), value.index()}; }

  // Who reads a value has time: those that come next wait for who makes it.
  std::vector<Pair> candidates(const Node& sum) const {
    std::vector<Pair> all;
    if (const auto found = readers_.find(key(source_of(sum.in()))); found != readers_.end())
      all = found->second;
    if (matmul_of(sum.in().node()) != nullptr) all.push_back({.product = &sum.in().node()});
    return all;
  }

  bool fits(const Pair& pair) const {
    const Node& product = *pair.product;
    const Value summed = pair.factor ? product.in(*pair.factor) : product.out();
    return !taken_[product] && product.device() == pair.sum->device() &&
           summed.shape().back() == pair.sum->type().shape.back() && can_meet(pair.group()) &&
           is_claimed(pair, claimed_);
  }

  // Both come where the later one is: nobody may want the earlier one before.
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
  std::unordered_map<const Node*, Pair> pairs;  // by the first of both
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
    const auto& inputs = pair.product->inputs();
    const Node& fused = fuse(block, {inputs.begin(), inputs.end()}, pair);
    const Values product = {fused.out(0)}, sum = {fused.out(1)};
    return group[0] == pair.product ? std::vector{product, sum} : std::vector{sum, product};
  };
  // In the program's own block alone: what the body of a loop gives may lie anywhere in memory.
  return gather(std::move(module), {find, merge, [](const Node&) { return false; }});
}

}  // namespace keratin
