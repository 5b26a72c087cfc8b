#include "keratin/passes/fold_norms.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "keratin/ir/rewrite.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm_operands.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/stable_values.h"
#include "keratin/ops/transfer.h"
#include "keratin/passes/rules.h"

namespace keratin {
namespace {

bool is_norm(const Node& node) { return &node.op() == &ops::batch_norm_inference_op; }

bool has_norm(const Block& block) {
  return std::any_of(block.nodes().begin(), block.nodes().end(),
                     [](const auto& node) { return is_norm(*node); });
}

// The value that a value is a copy of, on another device.
Value original(Value value) {
  while (&value.node().op() == &ops::transfer_op) value = value.node().in();
  return value;
}

// A convolution or matmul, and the bias that is added to its result, if any.
struct Anchor {
  Value result, bias;
};

class Folding {
 public:
  explicit Folding(const Module& module) {
    const StableValues stable(module, StableValues::Copies::stable);
    const auto remember = [&](const Node& node) {
      if (stable.contains(node.out())) stable_.insert(&node);
    };
    for (const auto& parameter : module.block().parameters()) remember(*parameter);
    for (const auto& node : module.block().nodes()) {
      if (node->output_count() == 1) remember(*node);
      if (&node->op() == &ops::transfer_op) continue;
      for (const Value& input : node->inputs()) ++uses_[&original(input).node()];
    }
    for (const Value& result : module.block().results) ++uses_[&original(result).node()];
    for (const auto& node : module.block().nodes())
      if (is_norm(*node) && is_foldable(*node)) note_scaling(*node);
  }

  std::optional<Values> visit(const Node& node) const {
    if (!is_norm(node) || !is_foldable(node)) return std::nullopt;
    const auto norm = operands<ops::BatchNormInferenceOperands>(node);
    Value s = ops::rsqrt(norm.variance + node.attr<ops::BatchNormAttrs>().epsilon);
    if (norm.scale.defined()) s = s * norm.scale;
    Anchor anchor = find_anchor(norm.x);
    if (anchor.result.defined() && !is_scaled_alike(anchor.result.node().in(1))) anchor = {};
    const Value centre = anchor.bias.defined() ? norm.mean - anchor.bias : norm.mean;
    Value shift = -(centre * s);
    if (norm.offset.defined()) shift = norm.offset + shift;
    if (anchor.result.defined()) return Values{scaled(anchor.result.node(), s) + shift};
    return Values{norm.x * s + shift};
  }

 private:
  // Channels last, in the dtype of the statistics, which are all stable.
  bool is_foldable(const Node& norm) const {
    const DType dtype = norm.type().dtype;
    const Value x = norm.in();
    return (dtype == DType::f32 || dtype == DType::f64) && x.shape().known() &&
           norm.attr<ops::BatchNormAttrs>().axis == x.rank() - 1 &&
           std::all_of(norm.inputs().begin() + 1, norm.inputs().end(),
                       [&](Value input) { return is_stable(input); });
  }

  bool is_stable(Value value) const { return stable_.contains(&value.node()); }

  bool is_used_once(Value value) const {
    const auto found = uses_.find(&value.node());
    return found != uses_.end() && found->second == 1;
  }

  // What computes x from weights that are stable, and has no other user.
  Anchor find_anchor(Value x) const {
    if (is_anchor(x)) return {x, {}};
    if (!is(x, ScalarOp::add) || !is_used_once(x)) return {};
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const Value result = x.node().in(i), bias = x.node().in(1 - i);
      if (is_anchor(result) && result.shape() == x.shape() && is_stable(bias) &&
          bias.shape().count() == x.shape().back() && bias.rank() > 0 &&
          bias.shape().back() == x.shape().back())
        return {result, ops::reshape(bias, {x.shape().back()})};
    }
    return {};
  }

  bool is_anchor(Value value) const {
    const bool matmul = is(value, ops::matmul_op);
    if ((!matmul && !is(value, ops::conv_op)) || !is_used_once(value)) return false;
    const Value weights = value.node().in(1);
    return is_stable(weights) && (!matmul || (weights.rank() == 2 && value.rank() >= 2));
  }

  // Remembers by what the norm would scale the weights before it.
  void note_scaling(const Node& node) {
    const Anchor anchor = find_anchor(operands<ops::BatchNormInferenceOperands>(node).x);
    if (!anchor.result.defined()) return;
    Scaling& scaling = scalings_[&original(anchor.result.node().in(1)).node()];
    if (scaling.norm == nullptr) scaling.norm = &node;
    scaling.alike = scaling.alike && scales_alike(*scaling.norm, node);
    ++scaling.users;
  }

  static bool scales_alike(const Node& a, const Node& b) {
    const auto x = operands<ops::BatchNormInferenceOperands>(a);
    const auto y = operands<ops::BatchNormInferenceOperands>(b);
    if (x.scale.defined() != y.scale.defined()) return false;
    return original(x.variance) == original(y.variance) &&
           (!x.scale.defined() || original(x.scale) == original(y.scale)) &&
           a.attr<ops::BatchNormAttrs>().epsilon == b.attr<ops::BatchNormAttrs>().epsilon;
  }

  // True if all users of the weights would scale them alike, as replicas do. Otherwise they would
  // be kept several times.
  bool is_scaled_alike(Value weights) const {
    const Node* node = &original(weights).node();
    const Scaling& scaling = scalings_.at(node);
    return scaling.alike && scaling.users == uses_.at(node);
  }

  // The anchor with weights times s, which has one number per column of the result.
  static Value scaled(const Node& anchor, Value s) {
    const Value weights = anchor.in(1);
    const bool in_rows =
        &anchor.op() == &ops::matmul_op && anchor.attr<ops::MatmulAttrs>().transpose_b;
    const Value factor = in_rows ? ops::reshape(s, {s.shape()[0], 1}) : s;
    return ops::emit(anchor.op(), {anchor.in(0), weights * factor}, anchor.attrs());
  }

  // Of weights: a norm that would scale them, whether all do so alike, and how many there are.
  struct Scaling {
    const Node* norm = nullptr;
    bool alike = true;
    int users = 0;
  };

  std::unordered_map<const Node*, int> uses_;  // of values and their copies
  std::unordered_map<const Node*, Scaling> scalings_;
  std::unordered_set<const Node*> stable_;
};

}  // namespace

Module fold_norms(Module module) {
  if (!module.updates().empty() || !has_norm(module.block())) return module;
  const Folding folding(module);
  return rewrite(std::move(module), [&](const Node& node) { return folding.visit(node); });
}

}  // namespace keratin
