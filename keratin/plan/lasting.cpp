#include "keratin/plan/lasting.h"

#include <algorithm>

#include "keratin/ops/constant.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/records.h"
#include "keratin/ops/transfer.h"

namespace keratin {

namespace {

// What weights are brought into another form with. Others may be large to keep, or complain.
bool brings_into_form(const Node& node) {
  const OpDef& op = node.op();
  if (&op == &ops::constant_op || op.view) return true;
  if (!op.scalar && &op != &ops::fused_op && &op != &ops::transpose_op) return false;
  constexpr size_t little = size_t{1} << 16;
  size_t read = little, made = 0;
  for (const Value& input : node.inputs()) read += bytes_of(input.type());
  for (const Type& type : node.types()) made += bytes_of(type);
  return made <= read;
}

}  // namespace

Lasting::Lasting(const Module& module) : lasting_(module.block()) {
  const Block& block = module.block();
  // What goes to the caller or into state is written anew by each run.
  BlockTable<char> leaves(block);
  for (const Value& result : block.results) leaves[result.node()] = true;
  for (const Update& update : module.updates()) leaves[update.value.node()] = true;
  for (auto node = block.nodes().rbegin(); node != block.nodes().rend(); ++node)
    if (leaves[**node] && ops::shares_memory(**node)) leaves[(*node)->in().node()] = true;
  for (const auto& parameter : block.parameters())
    lasting_[*parameter] = parameter->attr<ParameterAttrs>().state;
  for (const Update& update : module.updates()) lasting_[update.state.node()] = false;
  for (const auto& node : block.nodes())
    lasting_[*node] = (&node->op() == &ops::constant_op || !leaves[*node]) &&
                      brings_into_form(*node) &&
                      std::all_of(node->inputs().begin(), node->inputs().end(),
                                  [&](Value input) { return (*this)[input]; });
}

}  // namespace keratin
