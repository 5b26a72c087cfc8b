#include "keratin/passes/prune_loops.h"

#include <unordered_map>

#include "keratin/ir/rewrite.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scan.h"
#include "keratin/passes/eliminate_dead.h"

namespace keratin {

namespace {

// Which outputs of nodes with regions are used, by the number of the node.
class UsedOutputs {
 public:
  explicit UsedOutputs(Module& module) : used_(module.number()) {
    look(module.block());
    for (const Update& update : module.updates()) use(update.value);
  }

  bool operator()(const Node& node, size_t output) const {
    const auto& outputs = used_[node.id()];
    return output < outputs.size() && outputs[output];
  }

 private:
  void look(const Block& block) {
    for (const auto& node : block.nodes()) {
      for (const Value& input : node->inputs()) use(input);
      for (const auto& region : node->regions()) look(*region);
    }
    for (const Value& result : block.results) use(result);
  }

  void use(Value value) {
    if (value.node().regions().empty()) return;
    auto& outputs = used_[value.node().id()];
    if (outputs.size() <= value.index()) outputs.resize(value.index() + 1);
    outputs[value.index()] = true;
  }

  std::vector<std::vector<bool>> used_;
};

// How many of a node's parameters are states for which the region computes new values.
size_t carries_of(const Node& node) {
  return &node.op() == &ops::scan_op ? static_cast<size_t>(node.attr<ops::ScanAttrs>().carries) : 0;
}

// The nodes that a region needs for some of its results. Recurses into regions.
class Needs {
 public:
  Needs(const Block& region, size_t carries)
      : region_(region), carries_(carries), results_(region.results.size()) {
    for (size_t i = 0; i < region.parameters().size(); ++i)
      parameters_.emplace(region.parameters()[i].get(), i);
  }

  // Marks result i and all that it needs, which includes the new value of any state that is read.
  void need_result(size_t i) {
    take_result(i);
    while (!todo_.empty()) {
      const Value value = todo_.back();
      todo_.pop_back();
      if (const auto found = parameters_.find(&value.node()); found != parameters_.end()) {
        if (found->second < carries_) take_result(found->second);
      } else {
        need_inputs(value);
      }
    }
  }

  bool result(size_t i) const { return results_[i]; }
  bool parameter(size_t i) const { return seen_.contains(region_.parameters()[i].get()); }

 private:
  void take_result(size_t i) {
    if (results_[i]) return;
    results_[i] = true;
    need(region_.results[i]);
  }

  void need(Value value) {
    auto& outputs = seen_[&value.node()];
    outputs.resize(value.node().output_count());
    if (outputs[value.index()]) return;
    outputs[value.index()] = true;
    todo_.push_back(value);
  }

  void need_inputs(Value value) {
    const Node& node = value.node();
    const bool scan = &node.op() == &ops::scan_op, cond = &node.op() == &ops::cond_op;
    if (!scan && !cond) {
      for (const Value& input : node.inputs()) need(input);
      return;
    }
    if (cond) need(node.in());
    const size_t before = cond ? 1 : 0;  // inputs without a parameter
    auto& inner = inner_[&node];
    for (size_t r = 0; r < node.regions().size(); ++r) {
      if (inner.size() == r) inner.emplace_back(node.region(r), carries_of(node));
      inner[r].need_result(value.index());
      for (size_t i = before; i < node.input_count(); ++i)
        if (inner[r].parameter(i - before)) need(node.in(i));
    }
    // A loop without steps returns the initial states.
    if (value.index() < carries_of(node)) need(node.in(value.index()));
  }

  const Block& region_;
  size_t carries_;
  std::vector<bool> results_;
  std::unordered_map<const Node*, size_t> parameters_;
  std::unordered_map<const Node*, std::vector<bool>> seen_;  // nodes, and which of their outputs
  std::unordered_map<const Node*, std::vector<Needs>> inner_;
  std::vector<Value> todo_;
};

// A placeholder for a value that only dead nodes use.
Value nothing(Block& block, const Type& type) {
  return ops::full(block, type.dtype, type.shape, 0);
}

// A copy of a region with its parameters in this order; the missing ones must be unused. `results`
// lists the results that are kept.
std::unique_ptr<Block> reduced(const Block& region, const std::vector<size_t>& parameters,
                               const std::vector<size_t>& results) {
  auto copy = std::make_unique<Block>(region.depth());
  Values arguments(region.parameters().size());
  for (size_t i : parameters) {
    const Node& parameter = *region.parameters()[i];
    arguments[i] = copy->parameter(parameter.type(), parameter.attr<ParameterAttrs>().name);
  }
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].defined()) arguments[i] = nothing(*copy, region.parameters()[i]->type());
  const Values all = inline_block(region, *copy, arguments);
  for (size_t i : results) copy->results.push_back(all[i]);
  return copy;
}

// The outputs of the new node for those that are kept, the given values for others, or undefined.
Values outputs_of(const Node& old, const Node& node, const std::vector<size_t>& kept,
                  Values others) {
  others.resize(old.output_count());
  for (size_t i = 0; i < kept.size(); ++i) others[kept[i]] = node.out(i);
  for (size_t i = 0; i < others.size(); ++i)
    if (!others[i].defined()) others[i] = nothing(old.block(), old.type(i));
  return others;
}

Values inputs_at(const Node& node, const std::vector<size_t>& positions) {
  Values inputs;
  for (size_t i : positions) inputs.push_back(node.in(i));
  return inputs;
}

std::optional<Values> prune_scan(const Node& node, const UsedOutputs& uses) {
  if (ops::scan_length(node) == unknown) return std::nullopt;
  const auto& attrs = node.attr<ops::ScanAttrs>();
  const size_t carries = carries_of(node);
  const size_t slices = carries + static_cast<size_t>(attrs.xs);
  const Block& region = node.region();
  Needs needs(region, carries);
  for (size_t i = 0; i < node.output_count(); ++i)
    if (uses(node, i)) needs.need_result(i);

  std::vector<size_t> kept, moving, constants;  // results; carries and xs; constants
  Values others(node.output_count());
  ops::ScanAttrs now{0, 0, ops::scan_length(node), attrs.reverse};
  for (size_t i = 0; i < node.input_count(); ++i) {
    const bool fixed = i < carries && region.results[i] == region.parameters()[i]->out();
    if (fixed) others[i] = node.in(i);
    if (i < carries && !fixed) {
      if (!needs.result(i)) continue;
      kept.push_back(i);
      moving.push_back(i);
      ++now.carries;
    } else if (needs.parameter(i)) {
      const bool slice = i >= carries && i < slices;
      (slice ? moving : constants).push_back(i);
      if (slice) ++now.xs;
    }
  }
  for (size_t i = carries; i < node.output_count(); ++i)
    if (needs.result(i)) kept.push_back(i);
  if (kept.size() == node.output_count() && moving.size() + constants.size() == node.input_count())
    return std::nullopt;

  moving.insert(moving.end(), constants.begin(), constants.end());
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(reduced(region, moving, kept));
  const Node& smaller =
      node.block().append(ops::scan_op, inputs_at(node, moving), now, std::move(regions));
  return outputs_of(node, smaller, kept, std::move(others));
}

std::optional<Values> prune_cond(const Node& node, const UsedOutputs& uses) {
  Needs then(node.region(0), 0), otherwise(node.region(1), 0);
  std::vector<size_t> kept;
  for (size_t i = 0; i < node.output_count(); ++i) {
    if (!uses(node, i)) continue;
    kept.push_back(i);
    then.need_result(i);
    otherwise.need_result(i);
  }
  std::vector<size_t> parameters, inputs{0};
  for (size_t i = 0; i + 1 < node.input_count(); ++i) {
    if (!then.parameter(i) && !otherwise.parameter(i)) continue;
    parameters.push_back(i);
    inputs.push_back(i + 1);
  }
  if (kept.size() == node.output_count() && inputs.size() == node.input_count())
    return std::nullopt;
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& region : node.regions()) regions.push_back(reduced(*region, parameters, kept));
  const Node& smaller =
      node.block().append(ops::cond_op, inputs_at(node, inputs), {}, std::move(regions));
  return outputs_of(node, smaller, kept, {});
}

}  // namespace

Module prune_loops(Module module) {
  // What an outer loop no longer needs is dead inside it: one round for each level of nesting.
  bool changed = true;
  while (changed) {
    changed = false;
    const UsedOutputs uses(module);
    module = rewrite(std::move(module), [&](const Node& node) -> std::optional<Values> {
      std::optional<Values> found;
      if (&node.op() == &ops::scan_op) found = prune_scan(node, uses);
      if (&node.op() == &ops::cond_op) found = prune_cond(node, uses);
      changed = changed || found.has_value();
      return found;
    });
    if (changed) module = eliminate_dead(std::move(module));
  }
  return module;
}

}  // namespace keratin
