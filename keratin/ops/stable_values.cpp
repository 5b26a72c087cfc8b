#include "keratin/ops/stable_values.h"

#include <algorithm>

#include "keratin/ops/constant.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/records.h"
#include "keratin/ops/transfer.h"

namespace keratin {

namespace {

// Ops that bring weights into another form: casts, transposes, pointwise ops. Others may give large
// results, or may fail.
bool is_worth_keeping(const Node& node) {
  const OpDef& op = node.op();
  if (&op == &ops::constant_op || op.view) return true;
  if (!op.scalar && &op != &ops::fused_op && &op != &ops::transpose_op) return false;
  constexpr size_t small = size_t{1} << 16;
  size_t read = small, made = 0;
  for (const Value& input : node.inputs()) read += bytes_of(input.type());
  for (const Type& type : node.types()) made += bytes_of(type);
  return made <= read;
}

}  // namespace

StableValues::StableValues(const Module& module, Copies copies) : stable_(module.block()) {
  const Block& block = module.block();
  // Results and new state are written by each run.
  BlockTable<char> leaves(block);
  for (const Value& result : block.results) leaves[result.node()] = true;
  for (const Update& update : module.updates()) leaves[update.value.node()] = true;
  for (auto node = block.nodes().rbegin(); node != block.nodes().rend(); ++node)
    if (leaves[**node] && ops::shares_memory(**node)) leaves[(*node)->in().node()] = true;
  for (const auto& parameter : block.parameters())
    stable_[*parameter] = static_cast<char>(parameter->attr<ParameterAttrs>().state);
  for (const Update& update : module.updates()) stable_[update.state.node()] = false;
  const auto may_be_stable = [&](const Node& node) {
    if (copies == Copies::stable && &node.op() == &ops::transfer_op) return true;
    return (&node.op() == &ops::constant_op || !leaves[node]) && is_worth_keeping(node);
  };
  for (const auto& node : block.nodes())
    stable_[*node] = static_cast<char>(may_be_stable(*node) &&
                                       std::all_of(node->inputs().begin(), node->inputs().end(),
                                                   [&](Value input) { return contains(input); }));
}

}  // namespace keratin
