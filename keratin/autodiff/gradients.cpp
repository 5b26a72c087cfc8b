#include "keratin/autodiff/gradients.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

namespace {

// One backward sweep over a stretch of a block. Iterative over nodes; it recurses only into
// decompositions, whose nesting is fixed by the ops.
class Backward {
 public:
  // Considers the nodes of the block from position `first` on.
  Backward(Block& block, size_t first) : block_(block), first_(first) {}

  Values run(const Values& outputs, const Values& dy, const Values& wrt) {
    // Gradient nodes are appended while we sweep, so the stretch is fixed first.
    const size_t last = block_.nodes().size();
    mark_active(wrt, last);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (dy[i].defined()) accumulate(outputs[i], dy[i]);
    for (size_t position = last; position-- > first_;) {
      Node& node = *block_.nodes()[position];
      if (depends_.contains(&node) && gradients_.contains(&node)) step(node);
    }
    Values result;
    for (const Value& input : wrt) result.push_back(gradient_of(input));
    return result;
  }

 private:
  // Active are the nodes that we differentiate by, and those that depend on them.
  void mark_active(const Values& wrt, size_t last) {
    for (const Value& input : wrt) active_.insert(&input.node());
    for (size_t position = first_; position < last; ++position) {
      const Node& node = *block_.nodes()[position];
      for (const Value& input : node.inputs()) {
        if (active_.contains(&input.node())) {
          active_.insert(&node);
          depends_.insert(&node);
          break;
        }
      }
    }
  }

  void accumulate(Value value, Value gradient) {
    if (!is_float(value.dtype())) return;
    ensure(gradient.dtype() == value.dtype() && gradient.shape() == value.shape(),
           "gradients: the gradient of an output of '", value.node().name(), "' is ",
           gradient.type(), ", the output is ", value.type());
    Values& known = gradients_[&value.node()];
    known.resize(value.node().output_count());
    Value& slot = known[value.index()];
    slot = slot.defined() ? slot + gradient : gradient;
  }

  Value gradient_of(Value value) const {
    const auto found = gradients_.find(&value.node());
    return found == gradients_.end() ? Value() : found->second[value.index()];
  }

  void step(Node& node) {
    const Values partial = input_gradients(node, gradients_.at(&node));
    ensure(partial.size() == node.input_count(), "gradients: '", node.name(), "' has ",
           node.input_count(), " inputs and gave ", partial.size(), " gradients");
    for (size_t i = 0; i < partial.size(); ++i)
      if (partial[i].defined() && active_.contains(&node.in(i).node()))
        accumulate(node.in(i), partial[i]);
  }

  Values input_gradients(Node& node, Values dy) {
    const OpDef& op = node.op();
    if (op.grad != nullptr || op.grad_regions != nullptr) {
      for (size_t i = 0; i < dy.size(); ++i)
        if (!dy[i].defined()) dy[i] = ops::full(block_, node.type(i).dtype, node.type(i).shape, 0);
      Values found = op.grad != nullptr ? op.grad(node, dy) : op.grad_regions(node, dy, pull_back);
      if (!found.empty() || op.decompose == nullptr) return found;
    }
    require(op.decompose != nullptr, "gradients: '", op.name, "' has no gradient");
    return through_decomposition(node, dy);
  }

  Values through_decomposition(Node& node, const Values& dy) {
    const size_t start = block_.nodes().size();
    const Values outputs = node.op().decompose(node);
    Values unique;
    for (const Value& input : node.inputs())
      if (std::find(unique.begin(), unique.end(), input) == unique.end()) unique.push_back(input);
    const Values found = Backward(block_, start).run(outputs, dy, unique);
    // An input given twice gets its whole gradient once.
    Values result(node.input_count());
    for (size_t i = 0; i < unique.size(); ++i) {
      const auto first = std::find(node.inputs().begin(), node.inputs().end(), unique[i]);
      result[static_cast<size_t>(first - node.inputs().begin())] = found[i];
    }
    return result;
  }

  Block& block_;
  size_t first_;
  std::unordered_set<const Node*> active_, depends_;
  std::unordered_map<const Node*, Values> gradients_;
};

}  // namespace

Values pull_back(Block& block, const Values& outputs, const Values& dy, const Values& wrt) {
  return Backward(block, 0).run(outputs, dy, wrt);
}

Values gradients(Value y, const Values& wrt, Value dy) {
  require(y.defined() && is_float(y.dtype()), "gradients: y must be a float value");
  for (const Value& input : wrt)
    require(input.defined() && &input.block() == &y.block(),
            "gradients: every value to differentiate by must be of the block of y");
  for (const Value& input : wrt)
    require(is_float(input.dtype()), "gradients: expected float values to differentiate by, got ",
            input.type());
  for (const auto& node : y.block().nodes())
    for (const Type& type : node->types())
      require(type.shape.known(), "gradients: all sizes must be known, '", node->name(), "' gives ",
              type);
  if (!dy.defined()) dy = ops::full_like(y, 1);
  require(dy.dtype() == y.dtype() && dy.shape() == y.shape(), "gradients: dy must be ", y.type(),
          ", got ", dy.type());
  Values result = pull_back(y.block(), {y}, {dy}, wrt);
  for (size_t i = 0; i < wrt.size(); ++i)
    if (!result[i].defined()) result[i] = ops::zeros_like(wrt[i]);
  return result;
}

}  // namespace keratin
