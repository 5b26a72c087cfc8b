#include "keratin/passes/fold_constants.h"

#include <algorithm>

#include "keratin/ir/rewrite.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/records.h"

namespace keratin {

namespace {

constexpr double max_work = 1 << 20;     // operations
constexpr int64_t max_growth = 1024;     // elements of a result, if its inputs have fewer
constexpr int64_t max_inputs = 1 << 16;  // elements read

bool all_constant(const Node& node) {
  return std::all_of(node.inputs().begin(), node.inputs().end(),
                     [](Value input) { return ops::constant_value(input) != nullptr; });
}

bool worth_folding(const Node& node) {
  const OpDef& op = node.op();
  if (&op == &ops::constant_op || &op == &ops::broadcast_to_op || op.places) return false;
  if (!node.regions().empty() || !all_constant(node)) return false;
  int64_t read = 0, made = 0;
  for (const Value& input : node.inputs()) read += input.shape().count();
  for (const Type& type : node.types()) {
    if (!type.shape.known()) return false;
    made += type.shape.count();
  }
  return read <= max_inputs && made <= std::max(max_growth, read) &&
         (op.flops == nullptr || op.flops(node) <= max_work);
}

}  // namespace

Module fold_constants(Module module, const Evaluate& evaluate) {
  return rewrite(std::move(module), [&](const Node& node) -> std::optional<Values> {
    // A view shares the constant's memory, whatever its size.
    if (node.op().view && all_constant(node) && node.type().shape.known())
      return Values{
          ops::constant(node.block(), ops::constant_value(node.in())->reshape(node.type().shape))};
    if (!worth_folding(node)) return std::nullopt;
    Values results;
    for (const Tensor& tensor : evaluate(node))
      results.push_back(ops::constant(node.block(), tensor));
    return results;
  });
}

}  // namespace keratin
