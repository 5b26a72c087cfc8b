#include "keratin/backend/cpu/jit/lower.h"

#include <unordered_map>

#include "keratin/backend/cpu/jit/loop_block.h"
#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::cpu {

namespace {

Reduce loop_reduction(const OpDef& op) {
  if (&op == &ops::sum_op) return Reduce::sum;
  if (&op == &ops::prod_op) return Reduce::prod;
  if (&op == &ops::max_op || &op == &ops::any_op) return Reduce::max;
  if (&op == &ops::min_op || &op == &ops::all_op) return Reduce::min;
  return Reduce::none;
}

bool is_loop_body(const OpDef& op) { return op.scalar.has_value() || &op == &ops::broadcast_to_op; }

// The strides of a row-major array of `shape` in the iteration space; 0 where it is broadcast.
LoopDims broadcast_strides(const Shape& shape, const Shape& space) {
  LoopDims strides{};
  int64_t step = 1;
  const int64_t shift = space.rank() - shape.rank();
  for (int64_t d = shape.rank(); d-- > 0;) {
    if (shape[d] != 1) strides[static_cast<size_t>(d + shift)] = step;
    step *= shape[d];
  }
  return strides;
}

// Equal but for axes of size 1 in front.
bool same_space(const Shape& shape, const Shape& space) {
  const int64_t shift = space.rank() - shape.rank();
  for (int64_t d = 0; d < space.rank(); ++d)
    if (space[d] != (d < shift ? 1 : shape[d - shift])) return false;
  return true;
}

struct ValueHash {
  size_t operator()(Value v) const { return std::hash<const Node*>{}(&v.node()) * 31 + v.index(); }
};

class Lowering {
 public:
  explicit Lowering(std::string& reason) : reason_(reason) {}

  std::optional<LoopProgram> region(const Node& node) {
    const Block& block = node.region();
    if (node.attr<ops::FusedAttrs>().kind != "loop") return refuse("the region is not a loop");
    for (const auto& inner : block.nodes()) include(*inner);
    for (const auto& parameter : block.parameters()) add_input(parameter->out());
    for (const auto& inner : block.nodes())
      if (!add_node(*inner)) return std::nullopt;
    for (const Value& result : block.results)
      if (!add_result(result)) return std::nullopt;
    if (program_.inputs.size() + program_.outputs.size() > size_t(max_loop_pointers))
      return refuse("the region has too many inputs and results");
    return std::move(program_);
  }

  std::optional<LoopProgram> single(const Node& node) {
    include(node);
    for (const Value& input : node.inputs()) add_input(input);
    if (!add_node(node) || !add_result(node.out())) return std::nullopt;
    return std::move(program_);
  }

 private:
  std::nullopt_t refuse(std::string reason) {
    reason_ = std::move(reason);
    return std::nullopt;
  }

  // Widens the iteration space to that of a node.
  void include(const Node& node) {
    if (loop_reduction(node.op()) == Reduce::none) {
      if (node.output_count() == 1) space_ = broadcast(space_, node.type().shape, "loop");
    } else {
      space_ = broadcast(space_, node.in().shape(), "loop");
    }
    program_.rank = static_cast<int>(space_.rank());
    for (int64_t d = 0; d < space_.rank(); ++d) program_.dims[static_cast<size_t>(d)] = space_[d];
  }

  void add_input(Value value) {
    const int32_t id = program_.add_input(value.dtype(), broadcast_strides(value.shape(), space_));
    ids_.try_emplace(value, id);
  }

  int32_t id(Value value) const { return ids_.at(value); }

  bool add_node(const Node& node) {
    if (loop_reduction(node.op()) != Reduce::none) return true;  // as a result
    if (&node.op() == &ops::constant_op) return add_constant(node);
    if (&node.op() == &ops::broadcast_to_op) {
      ids_[node.out()] = id(node.in());
      return true;
    }
    if (!node.op().scalar) {
      reason_ = text("'", node.name(), "' is not pointwise");
      return false;
    }
    for (const Value& input : node.inputs())
      if (!ids_.contains(input)) {
        reason_ = text("'", node.name(), "' uses a reduced value");
        return false;
      }
    LoopInst inst{.op = *node.op().scalar, .dtype = node.type().dtype};
    for (size_t i = 0; i < node.input_count(); ++i) inst.args[i] = id(node.in(i));
    push(node, inst);
    return true;
  }

  bool add_constant(const Node& node) {
    const Tensor& value = node.attr<ops::ConstantAttrs>().value;
    if (value.count() != 1) {
      reason_ = text("the region holds a constant of ", value.count(), " elements");
      return false;
    }
    LoopInst inst{.dtype = value.dtype()};
    if (is_float(value.dtype()))
      inst.real = value.at(0);
    else
      inst.integer = value.to_vector<int64_t>()[0];
    push(node, inst);
    return true;
  }

  void push(const Node& node, const LoopInst& inst) {
    program_.body.push_back(inst);
    ids_[node.out()] = program_.value_count() - 1;
  }

  bool add_result(Value result) {
    const Node& node = result.node();
    const Reduce kind = loop_reduction(node.op());
    // A parameter may be the result of a reduction outside.
    const bool reduced = kind != Reduce::none && !ids_.contains(result);
    const Value walked = reduced ? node.in() : result;
    if (!same_space(walked.shape(), space_)) {
      reason_ = text("a result of shape ", walked.shape(), " in a loop over ", space_);
      return false;
    }
    LoopOutput output{.value = id(walked), .dtype = result.dtype()};
    if (reduced) {
      output.reduce = kind;
      const int64_t shift = space_.rank() - walked.rank();
      for (int64_t axis : node.attr<ops::ReduceAttrs>().axes)
        output.reduced |= 1u << static_cast<unsigned>(axis + shift);
    }
    program_.outputs.push_back(output);
    return true;
  }

  std::string& reason_;
  LoopProgram program_;
  Shape space_;
  std::unordered_map<Value, int32_t, ValueHash> ids_;
};

}  // namespace

std::optional<LoopProgram> lower_to_loop(const Node& node, std::string& reason) {
  Lowering lowering(reason);
  if (&node.op() == &ops::fused_op) return lowering.region(node);
  if (!is_loop_body(node.op()) && loop_reduction(node.op()) == Reduce::none) {
    reason = text("'", node.name(), "' is not a loop");
    return std::nullopt;
  }
  return lowering.single(node);
}

}  // namespace keratin::cpu
