#include "keratin/passes/sink_views.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "keratin/ir/rewrite.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"
#include "keratin/passes/rules.h"

namespace keratin {
namespace {

// The shape of an operand after its op's result has changed from one shape to another: all
// elements, one value, or one value per element of the last axis.
std::optional<Dims> shape_beside(const Shape& operand, const Shape& from, const Shape& to) {
  if (operand == from) return to.dims();
  const int64_t count = operand.count(), added = from.rank() - operand.rank();
  if (count == 1) return Dims{};
  // True for whole trailing axes that are one axis of the other shape.
  int64_t trailing = 1;
  for (int64_t axis = from.rank() - 1; axis >= 0; --axis) {
    const int64_t size = axis < added ? 1 : operand[axis - added];
    if (size != (trailing < count ? from[axis] : 1)) return std::nullopt;
    trailing *= size;
  }
  return to.back() == count ? std::optional(Dims{count}) : std::nullopt;
}

bool is_matmul_or_conv(const Node& node) {
  return &node.op() == &ops::matmul_op || &node.op() == &ops::conv_op;
}

bool is_view(const Node& node) {
  return &node.op() == &ops::reshape_op || &node.op() == &ops::transpose_op;
}

bool holds(const Block& block, bool (*looked_for)(const Node&)) {
  return std::any_of(block.nodes().begin(), block.nodes().end(), [&](const auto& node) {
    return looked_for(*node) ||
           std::any_of(node->regions().begin(), node->regions().end(),
                       [&](const auto& region) { return holds(*region, looked_for); });
  });
}

class Sinking {
 public:
  explicit Sinking(const Module& module) {
    count_uses(module.block());
    for (const Update& update : module.updates()) ++uses_[&update.value.node()];
  }

  // Nodes are visited in order, so the inputs of a node come before it.
  std::optional<Values> visit(const Node& node) {
    if (is_matmul_or_conv(node) || (is_view(node) && is_chain_of_one_user(node.in())))
      chain_.insert(&node);
    if (!node.op().scalar || !node.type().shape.known()) return std::nullopt;
    for (const Value& input : node.inputs()) {
      if (!is_chain_of_one_user(input) || input.shape() != node.type().shape) continue;
      chain_.insert(&node);
      if (!is_view(input.node())) return std::nullopt;  // it follows a matmul already
    }
    for (const Value& input : node.inputs())
      if (const Value moved = past(node, input); moved.defined()) return Values{moved};
    return std::nullopt;
  }

 private:
  void count_uses(const Block& block) {
    for (const auto& node : block.nodes()) {
      for (const Value& input : node->inputs()) ++uses_[&input.node()];
      for (const auto& region : node->regions()) count_uses(*region);
    }
    for (const Value& result : block.results) ++uses_[&result.node()];
  }

  // A matmul or convolution, or a chain of views and pointwise ops after one, with a single user.
  bool is_chain_of_one_user(Value value) const {
    return chain_.contains(&value.node()) && uses(value.node()) == 1;
  }

  int uses(const Node& node) const {
    const auto found = uses_.find(&node);
    return found == uses_.end() ? 0 : found->second;
  }

  // The node's result, computed before the view that this input is, and the view of it.
  Value past(const Node& node, Value input) {
    if (!is_view(input.node()) || uses(input.node()) != 1) return {};
    const bool reshapes = is(input, ops::reshape_op);
    const Value base = input.node().in();
    if (!base.shape().known() || !is_chain_of_one_user(base)) return {};
    const Shape &shape = node.type().shape, &inner = base.shape();
    std::vector<Dims> shapes;  // of the operands
    for (const Value& operand : node.inputs()) {
      if (operand.shape().known() && (operand == input || reshapes)) {
        auto beside = shape_beside(operand.shape(), shape, inner);
        if (beside) shapes.push_back(std::move(*beside));
      } else if (operand.shape().known() && operand.shape().count() == 1) {
        shapes.emplace_back();
      }
    }
    if (shapes.size() < node.input_count() || input.shape() != shape) return {};
    Values operands;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const Value operand = node.in(i);
      if (operand == input) {
        operands.push_back(base);
        continue;
      }
      // Two reshapes in a row become one.
      const bool again = is(operand, ops::reshape_op);
      operands.push_back(ops::reshape(again ? operand.node().in() : operand, shapes[i]));
    }
    for (const Value& operand : operands) ++uses_[&operand.node()];
    const Value result = ops::emit(node.op(), operands, node.attrs());
    const Value view =
        reshapes ? ops::reshape(result, shape.dims())
                 : ops::transpose(result, input.node().attr<ops::TransposeAttrs>().permutation);
    --uses_.at(&base.node());  // its old view is no longer used
    uses_[&result.node()] = 1;
    uses_[&view.node()] = uses(node);
    return view;
  }

  std::unordered_map<const Node*, int> uses_;
  std::unordered_set<const Node*> chain_;
};

}  // namespace

Module sink_views(Module module) {
  if (!holds(module.block(), is_view) || !holds(module.block(), is_matmul_or_conv)) return module;
  Sinking sinking(module);
  return rewrite_fully(std::move(module), [&](const Node& node) { return sinking.visit(node); });
}

}  // namespace keratin
