#include "keratin/plan/kernel.h"

namespace keratin {

bool has_strings(const Node& node) {
  for (const Value& input : node.inputs())
    if (input.dtype() == DType::string) return true;
  for (const Type& type : node.types())
    if (type.dtype == DType::string) return true;
  return false;
}

KernelList::KernelList(std::span<const KernelDef* const> kernels) {
  // An op's kernels and those for any op stay in the order of the list.
  for (const KernelDef* kernel : kernels)
    for (const OpDef* op : kernel->ops)
      if (op != nullptr) by_op_[op];
  for (const KernelDef* kernel : kernels) {
    if (kernel->ops[0] == nullptr) {
      for_any_op_.push_back(kernel);
      for (auto& [op, candidates] : by_op_) candidates.push_back(kernel);
    }
    for (const OpDef* op : kernel->ops)
      if (op != nullptr) by_op_[op].push_back(kernel);
  }
}

const std::vector<const KernelDef*>& KernelList::candidates(const OpDef& op) const {
  const auto found = by_op_.find(&op);
  return found == by_op_.end() ? for_any_op_ : found->second;
}

bool KernelList::claims(const Node& node) const {
  for (const KernelDef* kernel : candidates(node.op()))
    if (kernel->refuses == nullptr || !kernel->refuses(node)) return true;
  return false;
}

Choice KernelList::make(const Node& node, const KernelOptions& options) const {
  Choice choice;
  for (const KernelDef* kernel : candidates(node.op())) {
    std::optional<std::string> reason = kernel->refuses ? kernel->refuses(node) : std::nullopt;
    if (!reason) {
      Offer offer = kernel->make(node, options);
      if (offer.kernel) {
        choice.kernel = std::move(offer.kernel);
        choice.name = kernel->name;
        return choice;
      }
      reason = std::move(offer.refusal);
    }
    choice.refused.push_back({std::string(kernel->name), std::move(*reason)});
  }
  return choice;
}

}  // namespace keratin
