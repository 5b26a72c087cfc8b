#include "keratin/passes/fold_padding.h"

#include <algorithm>
#include <unordered_map>

#include "keratin/ir/rewrite.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/joining.h"
#include "keratin/passes/rules.h"

namespace keratin {
namespace {

using Uses = std::unordered_map<const Node*, int>;

bool is_zero(int64_t size) { return size == 0; }

// Zeros around the spatial axes of [batch, spatial…, channels] alone.
bool pads_space_with_zeros(const Node& pad) {
  const auto& attrs = pad.attr<ops::PadAttrs>();
  return attrs.value == 0 && std::all_of(attrs.interior.begin(), attrs.interior.end(), is_zero) &&
         is_zero(attrs.lo.front()) && is_zero(attrs.hi.front()) && is_zero(attrs.lo.back()) &&
         is_zero(attrs.hi.back());
}

std::optional<Values> fold(const Node& conv, const Uses& uses) {
  if (&conv.op() != &ops::conv_op || !is(conv.in(), ops::pad_op)) return std::nullopt;
  const Node& pad = conv.in().node();
  const auto found = uses.find(&pad);
  if (found == uses.end() || found->second != 1 || !pads_space_with_zeros(pad)) return std::nullopt;
  auto attrs = conv.attr<ops::ConvAttrs>();
  if (attrs.padding != "valid" && attrs.padding != "explicit") return std::nullopt;
  const auto& around = pad.attr<ops::PadAttrs>();
  const auto axes = static_cast<size_t>(pad.type().shape.rank() - 2);
  attrs.padding = "explicit";
  attrs.low.resize(axes);
  attrs.high.resize(axes);
  for (size_t axis = 0; axis < axes; ++axis) {
    attrs.low[axis] += around.lo[axis + 1];
    attrs.high[axis] += around.hi[axis + 1];
  }
  return Values{ops::emit(conv.op(), {pad.in(), conv.in(1)}, std::move(attrs))};
}

}  // namespace

Module fold_padding(Module module) {
  Uses uses;
  for (const auto& node : module.block().nodes())
    for (const Value& input : node->inputs()) ++uses[&input.node()];
  for (const Value& result : module.block().results) ++uses[&result.node()];
  for (const Update& update : module.updates()) ++uses[&update.value.node()];
  return rewrite(std::move(module), [&](const Node& node) { return fold(node, uses); });
}

}  // namespace keratin
