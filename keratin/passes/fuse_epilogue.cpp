#include "keratin/passes/fuse_epilogue.h"

#include <algorithm>
#include <optional>

#include "keratin/ops/fused.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"
#include "keratin/passes/fuse_group.h"
#include "keratin/passes/users.h"

namespace keratin {
namespace {

constexpr size_t max_members = 24;
constexpr int max_side_depth = 3;

bool is_product(const Node& node) {
  return (&node.op() == &ops::matmul_op || &node.op() == &ops::conv_op) &&
         is_float(node.type().dtype) && node.type().shape.known();
}

bool is_transpose(const Node& node) { return &node.op() == &ops::transpose_op; }

// Where a transpose puts the axis whose elements lie side by side: 0 is last, 1 the one before.
int64_t contiguous_axis(const Node& transpose) {
  const Dims& permutation = transpose.attr<ops::TransposeAttrs>().permutation;
  const auto last = static_cast<int64_t>(permutation.size()) - 1;
  const auto place = std::find(permutation.begin(), permutation.end(), last) - permutation.begin();
  return last - place;
}

// Does a matmul read this input through a transpose as well as without?
bool reads_through(const Node& member, size_t input) {
  if (&member.op() != &ops::matmul_op) return false;
  const Node& source = member.in(input).node();
  return is_transpose(source) && contiguous_axis(source) <= 1;
}

// One value, one per column, or one per element of the product.
bool is_readable(const Shape& operand, const Shape& product) {
  if (operand == product || operand.count() == 1) return true;
  return operand.rank() <= product.rank() && operand.back() == product.back() &&
         operand.count() == operand.back();
}

// How many products each node of a block comes after, along the longest way to it.
BlockTable<int> count_products_before(const Block& block) {
  BlockTable<int> counts(block);
  for (const auto& node : block.nodes())
    for (const Value& input : node->inputs())
      counts[*node] =
          std::max(counts[*node], counts[input.node()] + (is_product(input.node()) ? 1 : 0));
  return counts;
}

struct BlockFacts {
  Users users;
  BlockTable<int> products_before;
  const NodeSet& returned;
  NodeSet taken;  // by another group
  bool side_by_side;
};

bool before(const Node* a, const Node* b) { return a->position() < b->position(); }

// A pointwise op that may join, last, with the ops before it that serve it alone.
using Unit = Gather::Group;

// Grows one group from a product.
class Growth {
 public:
  Growth(Node& product, const BlockFacts& facts)
      : product_(product), facts_(facts), members_{&product} {
    std::vector<Node*> next{&product};
    while (!next.empty() && members_.size() < max_members) {
      const Node* source = next.back();
      next.pop_back();
      for (Node* user : facts.users.of(*source)) {
        if (members_.size() >= max_members) break;
        if (!contains(*user) && try_user(*user)) next.push_back(user);
      }
    }
    std::sort(units_.begin(), units_.end(),
              [](const Unit& a, const Unit& b) { return before(a.back(), b.back()); });
  }

  // As many units as leave only the last op visible.
  Gather::Group best() {
    for (; !units_.empty(); units_.pop_back()) {
      members_ = {&product_};
      for (const Unit& unit : units_) members_.insert(members_.end(), unit.begin(), unit.end());
      if (only_last_visible()) break;
    }
    if (units_.empty()) return bare_product();
    std::sort(members_.begin(), members_.end(), before);
    return members_;
  }

 private:
  // The product with nothing but transposes around it, if there are any.
  Gather::Group bare_product() const {
    const auto users = facts_.users.of(product_);
    if (&product_.op() == &ops::matmul_op && users.size() == 1 && !facts_.returned[product_] &&
        is_transpose(*users[0]) && contiguous_axis(*users[0]) == 0)
      return {&product_, users[0]};
    if (reads_through(product_, 0) || reads_through(product_, 1)) return {&product_};
    return {};
  }

  bool try_user(Node& user) {
    Unit unit;
    if (!is_loop_op(user) || adds_later_product(user) ||
        !readable_inputs(user, unit, max_side_depth))
      return false;
    unit.push_back(&user);
    members_.insert(members_.end(), unit.begin(), unit.end());
    units_.push_back(std::move(unit));
    return true;
  }

  // In a sum of products, or of what pointwise ops made of them, each takes along what is there
  // already: all share its memory, and none is left to be read by the first.
  bool adds_later_product(const Node& user) const {
    if (user.op().scalar != ScalarOp::add) return false;
    return std::any_of(user.inputs().begin(), user.inputs().end(), [&](const Value& input) {
      return !contains(input.node()) &&
             follows(input.node(), max_side_depth, [&](const Node& product) {
               return is_later(product) && product.type() == product_.type();
             });
    });
  }

  // Does it come from such a product, by pointwise ops that serve nothing else?
  template <class Wanted>
  bool follows(const Node& node, int depth, const Wanted& wanted) const {
    if (facts_.users.of(node).size() != 1 || facts_.returned[node]) return false;
    if (is_product(node)) return wanted(node);
    if (depth == 0 || !is_loop_op(node)) return false;
    return std::any_of(node.inputs().begin(), node.inputs().end(), [&](const Value& input) {
      return follows(input.node(), depth - 1, wanted);
    });
  }

  // Of two convolutions the one that must wait for more: where steps run at the same time, the
  // other one of a residual block is over by then.
  bool is_later(const Node& product) const {
    const int mine = facts_.products_before[product_], others = facts_.products_before[product];
    return are_convolutions(product) && mine != others ? mine < others
                                                       : before(&product_, &product);
  }
  bool are_convolutions(const Node& product) const {
    return &product_.op() == &ops::conv_op && &product.op() == &ops::conv_op;
  }

  bool is_loop_op(const Node& node) const {
    return node.op().scalar && node.type().shape == product_.type().shape && !facts_.taken[node];
  }

  // Everything the node reads is a member, may be read from outside, or is made by ops that serve
  // nothing else, which then join.
  bool readable_inputs(const Node& node, Unit& sides, int depth) const {
    for (const Value& input : node.inputs()) {
      if (contains(input.node()) || add_side(input.node(), sides, depth)) continue;
      const bool sent = &input.node().op() == &ops::transfer_op;
      if (sent && facts_.side_by_side && input.shape() == product_.type().shape) return false;
      if (!is_readable(input.shape(), product_.type().shape)) return false;
    }
    return true;
  }

  bool add_side(Node& node, Unit& sides, int depth) const {
    if (std::find(sides.begin(), sides.end(), &node) != sides.end()) return true;
    const bool alone = facts_.users.of(node).size() == 1 && !facts_.returned[node];
    if (depth == 0 || !alone || !is_loop_op(node)) return false;
    // What is another convolution's own epilogue stays that.
    const auto is_other = [&](const Node& product) {
      return &product != &product_ && are_convolutions(product);
    };
    if (follows(node, max_side_depth, is_other)) return false;
    Unit with = sides;
    if (!readable_inputs(node, with, depth - 1)) return false;
    with.push_back(&node);
    sides = std::move(with);
    return true;
  }

  bool only_last_visible() const {
    const Node* last = members_.back();
    for (const Node* member : members_) {
      if (member == last) continue;
      if (facts_.returned[*member]) return false;
      for (const Node* user : facts_.users.of(*member)) {
        if (!contains(*user)) return false;
      }
    }
    // It is stored where the product would have been.
    return last->type().dtype == product_.type().dtype;
  }

  bool contains(const Node& node) const {
    return std::find(members_.begin(), members_.end(), &node) != members_.end();
  }

  Node& product_;
  const BlockFacts& facts_;
  std::vector<Unit> units_;
  Gather::Group members_;
};

std::vector<Gather::Group> find_epilogues(const Block& block, const NodeSet& returned,
                                          bool side_by_side) {
  std::vector<Gather::Group> groups;
  std::optional<BlockFacts> facts;  // looked for when there is a product
  for (const auto& node : block.nodes()) {
    if (!is_product(*node)) continue;
    if (!facts)
      facts.emplace(BlockFacts{Users(block), count_products_before(block), returned, NodeSet(block),
                               side_by_side});
    Gather::Group group = Growth(*node, *facts).best();
    if (group.empty()) continue;
    for (const Node* member : group) facts->taken[*member] = true;
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

Module fuse_epilogue(Module module, bool side_by_side) {
  const auto find = [=](const Block& block, const NodeSet& returned) {
    return find_epilogues(block, returned, side_by_side);
  };
  return fuse_groups(std::move(module), "epilogue", find, reads_through);
}

}  // namespace keratin
