#include "keratin/passes/merge_scans.h"

#include <algorithm>
#include <unordered_map>

#include "keratin/base/hash.h"
#include "keratin/ir/rewrite.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scan.h"
#include "keratin/passes/eliminate_common.h"

namespace keratin {

namespace {

// True if both read the same values in the same order.
bool same_loop(const Node& a, const Node& b) {
  const auto &x = a.attr<ops::ScanAttrs>(), &y = b.attr<ops::ScanAttrs>();
  return &a.block() == &b.block() && a.inputs() == b.inputs() && x.carries == y.carries &&
         x.xs == y.xs && x.reverse == y.reverse && ops::scan_length(a) == ops::scan_length(b);
}

size_t hash_inputs(const Node& node) {
  size_t hash = reinterpret_cast<size_t>(&node.block());
  for (const Value& input : node.inputs())
    hash = detail::mix(detail::mix(hash, reinterpret_cast<size_t>(&input.node())), input.index());
  return hash;
}

// The output of the merged loop for each output of one loop.
using Positions = std::vector<size_t>;

struct Merged {
  std::unique_ptr<Block> region;
  std::vector<Positions> positions;  // per loop
};

// Writes the bodies one after the other over the same parameters and eliminates common
// subexpressions. Loops whose new carries are then the same values can be merged. Returns those
// that can be merged with the first.
Merged merge_bodies(std::vector<const Node*>& loops) {
  const Block& first = loops[0]->region();
  Module together;
  Values parameters;
  for (const auto& parameter : first.parameters())
    parameters.push_back(together.input(parameter->type(), parameter->attr<ParameterAttrs>().name));
  for (const Node* loop : loops)
    for (const Value& result : inline_block(loop->region(), together.block(), parameters))
      together.output(result);
  together = eliminate_common(std::move(together));

  const Values all = together.block().results;
  const auto carries = static_cast<size_t>(loops[0]->attr<ops::ScanAttrs>().carries);
  Values results(all.begin(), all.begin() + static_cast<int64_t>(first.results.size()));
  Merged merged;
  std::vector<const Node*> together_with;
  size_t start = 0;
  for (const Node* loop : loops) {
    const size_t end = start + loop->output_count();
    const bool same = std::equal(all.begin(), all.begin() + static_cast<int64_t>(carries),
                                 all.begin() + static_cast<int64_t>(start));
    if (same) {
      Positions positions;
      for (size_t i = 0; i < carries; ++i) positions.push_back(i);
      for (size_t i = start + carries; i < end; ++i) {
        const auto found =
            std::find(results.begin() + static_cast<int64_t>(carries), results.end(), all[i]);
        positions.push_back(static_cast<size_t>(found - results.begin()));
        if (found == results.end()) results.push_back(all[i]);
      }
      merged.positions.push_back(std::move(positions));
      together_with.push_back(loop);
    }
    start = end;
  }
  together.block().results = results;
  merged.region = clone_block(together.block(), first.depth());
  loops = std::move(together_with);
  return merged;
}

class Merger {
 public:
  // Finds candidates before anything is changed.
  void look(const Block& block) {
    std::unordered_multimap<size_t, size_t> by_inputs;
    for (const auto& node : block.nodes()) {
      for (const auto& region : node->regions()) look(*region);
      if (&node->op() != &ops::scan_op) continue;
      const size_t hash = hash_inputs(*node);
      const auto [first, last] = by_inputs.equal_range(hash);
      const auto found = std::find_if(first, last, [&](const auto& entry) {
        return same_loop(*groups_[entry.second][0], *node);
      });
      if (found != last) {
        groups_[found->second].push_back(node.get());
        group_of_.emplace(groups_[found->second][0], found->second);
      } else {
        by_inputs.emplace(hash, groups_.size());
        groups_.push_back({node.get()});
      }
    }
  }

  std::optional<Values> visit(const Node& node) {
    if (const auto done = replacements_.find(&node); done != replacements_.end())
      return done->second;
    const auto found = group_of_.find(&node);
    if (found == group_of_.end()) return std::nullopt;
    std::vector<const Node*> loops = groups_[found->second];
    Merged merged = merge_bodies(loops);
    if (loops.size() < 2) return std::nullopt;
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(std::move(merged.region));
    const Node& all =
        node.block().append(ops::scan_op, node.inputs(), node.attrs(), std::move(regions));
    for (size_t i = 0; i < loops.size(); ++i) {
      Values& outputs = replacements_[loops[i]];
      for (size_t position : merged.positions[i]) outputs.push_back(all.out(position));
    }
    return replacements_.at(&node);
  }

 private:
  std::vector<std::vector<const Node*>> groups_;
  std::unordered_map<const Node*, size_t> group_of_;  // by its first loop
  std::unordered_map<const Node*, Values> replacements_;
};

}  // namespace

Module merge_scans(Module module) {
  Merger merger;
  merger.look(module.block());
  return rewrite(std::move(module), [&](const Node& node) { return merger.visit(node); });
}

}  // namespace keratin
