#include "keratin/autodiff/gradients.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "keratin/base/text.h"
#include "keratin/ops/collective.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/shards.h"

namespace keratin {

namespace {

// One backward sweep over a range of a block's nodes. Iterative over nodes; it recurses only into
// decompositions, whose nesting depth is bounded.
class Backward {
 public:
  // Considers the nodes of the block from position `first` on.
  Backward(Block& block, size_t first) : block_(block), first_(first) {}

  Values run(const Values& outputs, const Values& dy, const Values& wrt) {
    mark_active(wrt);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (dy[i].defined()) accumulate(outputs[i], dy[i]);
    for (size_t i = depends_.size(); i-- > 0;) {
      if (!depends_[i]) continue;
      step(*block_.nodes()[first_ + i]);
      if (!remote_.empty()) sum_what_is_complete(i);
    }
    Values result;
    for (const Value& input : wrt) result.push_back(gradient_of(input));
    return result;
  }

 private:
  static constexpr size_t inactive = static_cast<size_t>(-1), never = inactive;

  // Nodes are active if they are differentiated by or depend on such a node. They get a slot for
  // the gradient of each output. Gradient nodes are appended during the sweep, so the range is
  // determined here.
  void mark_active(const Values& wrt) {
    const size_t count = block_.nodes().size() - first_;
    slots_.assign(count, inactive);
    depends_.assign(count, false);
    for (const Value& input : wrt) activate(input.node());
    for (size_t i = 0; i < count; ++i) {
      const Node& node = *block_.nodes()[first_ + i];
      depends_[i] = std::any_of(node.inputs().begin(), node.inputs().end(),
                                [&](Value input) { return slot_of(input.node()) != inactive; });
      if (depends_[i]) activate(node);
      for (const Value& input : node.inputs())
        if (const size_t slot = slot_of(input.node()); slot != inactive)
          first_uses_[slot + input.index()] = std::min(first_uses_[slot + input.index()], i);
    }
  }

  void activate(const Node& node) {
    (in_stretch(node) ? slots_[node.position() - first_] : outside_[&node]) = gradients_.size();
    gradients_.resize(gradients_.size() + node.output_count());
    first_uses_.resize(gradients_.size(), never);
  }

  bool in_stretch(const Node& node) const {
    return &node.block() == &block_ && !is_parameter(node) && node.position() >= first_ &&
           node.position() - first_ < slots_.size();
  }

  size_t slot_of(const Node& node) const {
    if (in_stretch(node)) return slots_[node.position() - first_];
    const auto found = outside_.find(&node);
    return found == outside_.end() ? inactive : found->second;
  }

  void accumulate(Value value, Value gradient) {
    if (!is_float(value.dtype())) return;
    ensure(gradient.dtype() == value.dtype() && gradient.shape() == value.shape(),
           "gradients: the gradient of an output of '", value.node().name(), "' is ",
           gradient.type(), ", the output is ", value.type());
    const size_t slot = slot_of(value.node());
    if (slot == inactive) return;
    Value& sum = gradients_[slot + value.index()];
    sum = sum.defined() ? sum + gradient : gradient;
  }

  // Addends from other devices are kept until all have arrived, so that a collective can sum them.
  void accumulate_remote(const Node& transfer, Value gradient) {
    const size_t slot = slot_of(transfer.in().node());
    if (slot == inactive || !is_float(transfer.in().dtype())) return;
    const OriginScope origin(transfer.origin());
    RemoteAddends& remote = remote_[slot + transfer.in().index()];
    Value& local = gradients_[slot + transfer.in().index()];
    if (remote.gradients.empty() && local.defined())
      remote.gradients.push_back(std::exchange(local, Value()));
    remote.gradients.push_back(ops::collective::send(gradient, transfer.in().type().device));
    remote.last = &transfer;
  }

  // The sum of all addends of a gradient; undefined if there are none.
  Value gradient_of(Value value) {
    const size_t slot = slot_of(value.node()) + value.index();
    const auto found = remote_.find(slot);
    if (found == remote_.end()) return gradients_[slot];
    RemoteAddends remote = std::move(found->second);
    remote_.erase(found);
    const OriginScope origin(remote.last->origin());
    Values& all = remote.gradients;
    if (gradients_[slot].defined()) all.push_back(gradients_[slot]);
    const Device device = value.type().device;
    return gradients_[slot] = all.size() == 1 ? ops::whole_on(all[0], device)
                                              : ops::collective::reduce(all, device);
  }

  // Values that are first used here get no more addends: their sum over devices starts as early as
  // possible, while the sweep continues.
  void sum_what_is_complete(size_t position) {
    for (const Value& input : block_.nodes()[first_ + position]->inputs())
      if (const size_t slot = slot_of(input.node());
          slot != inactive && first_uses_[slot + input.index()] == position)
        gradient_of(input);
  }

  void step(Node& node) {
    Values dy;
    for (const Value& output : node.outputs()) dy.push_back(gradient_of(output));
    if (std::none_of(dy.begin(), dy.end(), [](Value one) { return one.defined(); })) return;
    if (&node.op() == &ops::transfer_op) return accumulate_remote(node, dy[0]);
    const OriginScope origin(node.origin());
    const Values partial = input_gradients(node, std::move(dy));
    ensure(partial.size() == node.input_count(), "gradients: '", node.name(), "' has ",
           node.input_count(), " inputs and gave ", partial.size(), " gradients");
    for (size_t i = 0; i < partial.size(); ++i)
      if (partial[i].defined()) accumulate(node.in(i), partial[i]);
  }

  Values input_gradients(Node& node, Values dy) {
    const OpDef& op = node.op();
    if (op.grad != nullptr || op.grad_regions != nullptr) {
      for (size_t i = 0; i < dy.size(); ++i)
        if (!dy[i].defined()) dy[i] = ops::full(block_, node.type(i).dtype, node.type(i).shape, 0);
      Values found =
          op.grad != nullptr ? op.grad(node, dy) : op.grad_regions(node, dy, detail::pull_back);
      if (!found.empty() || op.decompose == nullptr) return found;
    }
    require(op.decompose != nullptr, "gradients: '", op.name, "' has no gradient");
    return through_decomposition(node, dy);
  }

  Values through_decomposition(Node& node, const Values& dy) {
    const size_t start = block_.nodes().size();
    const Values outputs = node.op().decompose(node);
    const Values inputs = node.inputs();
    Values found = Backward(block_, start).run(outputs, dy, inputs);
    // If a value is given twice, both results are its whole gradient.
    for (auto input = inputs.begin(); input != inputs.end(); ++input)
      if (std::find(inputs.begin(), input, *input) != input)
        found[static_cast<size_t>(input - inputs.begin())] = Value();
    return found;
  }

  Block& block_;
  size_t first_;
  std::vector<bool> depends_;  // of the range: whether a node is active
  std::vector<size_t> slots_;  // of the range: the first slot of a node's outputs
  std::unordered_map<const Node*, size_t> outside_;  // the same for nodes before the range
  Values gradients_;
  std::vector<size_t> first_uses_;  // of each of them: positions in the range
  struct RemoteAddends {
    Values gradients;
    const Node* last = nullptr;  // the transfer that the last of them came through
  };
  std::unordered_map<size_t, RemoteAddends> remote_;  // by the slot in `gradients_`
};

}  // namespace

Values detail::pull_back(Block& block, const Values& outputs, const Values& dy, const Values& wrt) {
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
  Values result = detail::pull_back(y.block(), {y}, {dy}, wrt);
  for (size_t i = 0; i < wrt.size(); ++i)
    if (!result[i].defined()) result[i] = ops::zeros_like(wrt[i]);
  return result;
}

}  // namespace keratin
