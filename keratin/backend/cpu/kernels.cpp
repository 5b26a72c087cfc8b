#include "keratin/backend/cpu/kernels.h"

#include <unordered_map>

#include "keratin/backend/cpu/conv.h"
#include "keratin/backend/cpu/epilogue.h"
#include "keratin/backend/cpu/fused.h"
#include "keratin/backend/cpu/matmul.h"
#include "keratin/ops/records.h"

namespace keratin::cpu {

namespace {

// One line per op: {&ops::softmax_op, one<make_softmax>, claims_softmax}.
template <Maker... makers>
constexpr Maker one[] = {makers...};

bool claims_fused(const Node& node) { return claims_epilogue(node) || claims_loop(node); }

constexpr KernelEntry table[] = {
    {&ops::conv_op, one<make_conv_forward>},
    {&ops::conv_grad_filter_op, one<make_conv_grad_filter>},
    {&ops::conv_grad_input_op, one<make_conv_grad_input>},
    {&ops::matmul_op, one<make_matmul>},
    {&ops::sum_op, one<make_loop>},
    {&ops::prod_op, one<make_loop>},
    {&ops::max_op, one<make_loop>},
    {&ops::min_op, one<make_loop>},
    {&ops::any_op, one<make_loop>},
    {&ops::all_op, one<make_loop>},
    {&ops::broadcast_to_op, one<make_loop>},
    {&ops::fused_op, one<make_epilogue, make_loop>, claims_fused},
};

// Every pointwise op that has no line of its own.
constexpr KernelEntry pointwise{nullptr, one<make_loop>};

}  // namespace

const KernelEntry* find_kernels(const OpDef& op) {
  static const auto by_op = [] {
    std::unordered_map<const OpDef*, const KernelEntry*> map;
    for (const KernelEntry& entry : table) map.emplace(entry.op, &entry);
    return map;
  }();
  const auto found = by_op.find(&op);
  if (found != by_op.end()) return found->second;
  return op.scalar ? &pointwise : nullptr;
}

}  // namespace keratin::cpu
