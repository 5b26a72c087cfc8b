#include "keratin/ops/registry.h"

#include <unordered_map>
#include <vector>

namespace keratin::ops {

std::span<const OpDef* const> all_ops() {
  static const auto all = [] {
    std::vector<const OpDef*> ops(std::begin(structured_ops), std::end(structured_ops));
    for (const OpDef& op : pointwise_ops) ops.push_back(&op);
    return ops;
  }();
  return all;
}

const OpDef* find_op(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const OpDef*> map;
    for (const OpDef* op : all_ops()) map.emplace(op->name, op);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace keratin::ops
