#include "keratin/passes/eliminate_common.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <unordered_map>

#include "keratin/base/hash.h"
#include "keratin/ir/rewrite.h"

namespace keratin {

namespace {

// Nodes by their number in a region, where two regions are compared; values of one block are
// compared by the address of their node.
using Numbering = std::unordered_map<const Node*, size_t>;

size_t number_of(Value value, const Numbering* numbering) {
  const size_t node =
      numbering != nullptr ? numbering->at(&value.node()) : reinterpret_cast<size_t>(&value.node());
  return detail::mix(node, value.index());
}

size_t hash_type(const Type& type) {
  return detail::mix(detail::mix(static_cast<size_t>(type.dtype), type.shape.hash()),
                     type.device.hash());
}

size_t hash_block(const Block& block);

size_t hash_node(const Node& node, const Numbering* numbering) {
  size_t inputs = 0;
  for (const Value& input : node.inputs()) {
    const size_t number = number_of(input, numbering);
    inputs = node.op().commutative ? inputs + detail::mix(0, number) : detail::mix(inputs, number);
  }
  size_t hash =
      detail::mix(detail::mix(reinterpret_cast<size_t>(&node.op()), node.attrs().hash()), inputs);
  for (const Type& type : node.types()) hash = detail::mix(hash, hash_type(type));
  for (const auto& region : node.regions()) hash = detail::mix(hash, hash_block(*region));
  return hash;
}

// Recurses into regions only, which are not nested deeply.
size_t hash_block(const Block& block) {
  Numbering numbering;
  size_t hash = block.nodes().size();
  for (const auto& parameter : block.parameters()) {
    numbering.emplace(parameter.get(), numbering.size());
    hash = detail::mix(hash, hash_type(parameter->type()));
  }
  for (const auto& node : block.nodes()) {
    hash = detail::mix(hash, hash_node(*node, &numbering));
    numbering.emplace(node.get(), numbering.size());
  }
  for (const Value& result : block.results) hash = detail::mix(hash, number_of(result, &numbering));
  return hash;
}

// Pairs the nodes of one region with those of another.
using Twins = std::unordered_map<const Node*, const Node*>;

bool same_values(std::span<const Value> a, std::span<const Value> b, const Twins* twins) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](Value x, Value y) {
    return x.index() == y.index() &&
           (twins != nullptr ? twins->at(&x.node()) : &x.node()) == &y.node();
  });
}

bool same_inputs(const Node& a, const Node& b, const Twins* twins) {
  if (same_values(a.inputs(), b.inputs(), twins)) return true;
  return a.op().commutative && b.input_count() == 2 &&
         same_values(a.inputs(), std::array{b.in(1), b.in(0)}, twins);
}

bool same_block(const Block& a, const Block& b);

bool same_node(const Node& a, const Node& b, const Twins* twins) {
  return &a.op() == &b.op() && a.types() == b.types() && same_inputs(a, b, twins) &&
         a.attrs() == b.attrs() &&
         std::equal(a.regions().begin(), a.regions().end(), b.regions().begin(), b.regions().end(),
                    [](const auto& x, const auto& y) { return same_block(*x, *y); });
}

bool same_block(const Block& a, const Block& b) {
  if (a.parameters().size() != b.parameters().size() || a.nodes().size() != b.nodes().size())
    return false;
  Twins twins;
  for (size_t i = 0; i < a.parameters().size(); ++i) {
    if (a.parameters()[i]->type() != b.parameters()[i]->type()) return false;
    twins.emplace(a.parameters()[i].get(), b.parameters()[i].get());
  }
  for (size_t i = 0; i < a.nodes().size(); ++i) {
    if (!same_node(*a.nodes()[i], *b.nodes()[i], &twins)) return false;
    twins.emplace(a.nodes()[i].get(), b.nodes()[i].get());
  }
  return same_values(a.results, b.results, &twins);
}

// The nodes seen so far, by hash. Its two tables never grow, so that a large module costs few cache
// misses: a short table of heads, and entries in order of insertion.
class Seen {
 public:
  explicit Seen(size_t nodes) : heads_(std::bit_ceil(nodes + 1), none) { entries_.reserve(nodes); }

  // An equal earlier node; if there is none, inserts the node and returns nullptr.
  const Node* find_or_add(const Node& node, size_t hash) {
    uint32_t& head = heads_[hash & (heads_.size() - 1)];
    for (uint32_t i = head; i != none; i = entries_[i].next) {
      const Node& other = *entries_[i].node;
      if (entries_[i].hash == hash && &other.block() == &node.block() &&
          same_node(other, node, nullptr))
        return &other;
    }
    entries_.push_back({hash, &node, head});
    head = static_cast<uint32_t>(entries_.size() - 1);
    return nullptr;
  }

 private:
  static constexpr uint32_t none = static_cast<uint32_t>(-1);
  struct Entry {
    size_t hash;
    const Node* node;
    uint32_t next;
  };
  std::vector<uint32_t> heads_;
  std::vector<Entry> entries_;
};

}  // namespace

Module eliminate_common(Module module) {
  Seen seen(module.number());
  return rewrite(std::move(module), [&](const Node& node) -> std::optional<Values> {
    const size_t hash =
        detail::mix(hash_node(node, nullptr), reinterpret_cast<size_t>(&node.block()));
    const Node* earlier = seen.find_or_add(node, hash);
    return earlier != nullptr ? std::optional(earlier->outputs()) : std::nullopt;
  });
}

}  // namespace keratin
