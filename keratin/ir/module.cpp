#include "keratin/ir/module.h"

#include <algorithm>

namespace keratin {

void Module::update(Value state, Value value) {
  require(&state.node().op() == &parameter_op() && state.node().attr<ParameterAttrs>().state,
          "Module: only state can be updated");
  require(state.type() == value.type(), "Module: the state '",
          state.node().attr<ParameterAttrs>().name, "' is ", state.type(), ", its update is ",
          value.type());
  for (const Update& other : updates_)
    require(other.state != state, "Module: the state '", state.node().attr<ParameterAttrs>().name,
            "' is updated twice");
  updates_.push_back({state, value});
}

Module Module::clone() const {
  Module copy;
  // Updates ride along as extra results, so that one copy maps everything.
  const size_t results = block_->results.size();
  for (const Update& update : updates_) block_->results.push_back(update.value);
  copy.block_ = clone_block(*block_, 0);
  block_->results.resize(results);
  for (size_t i = 0; i < updates_.size(); ++i) {
    const auto position =
        std::find_if(block_->parameters().begin(), block_->parameters().end(),
                     [&](const auto& p) { return p.get() == &updates_[i].state.node(); }) -
        block_->parameters().begin();
    copy.updates_.push_back({copy.block_->parameters()[static_cast<size_t>(position)]->out(),
                             copy.block_->results[results + i]});
  }
  copy.block_->results.resize(results);
  return copy;
}

size_t Module::number() {
  size_t next = 0;
  const std::function<void(const Block&)> visit = [&](const Block& block) {
    for (const auto& parameter : block.parameters()) parameter->id_ = next++;
    for (const auto& node : block.nodes()) {
      node->id_ = next++;
      for (const auto& region : node->regions()) visit(*region);
    }
  };
  visit(*block_);
  return next;
}

}  // namespace keratin
