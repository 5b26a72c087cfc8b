#include "keratin/ir/module.h"

#include <functional>

#include "keratin/base/text.h"
#include "keratin/ir/node.h"

namespace keratin {

Module::Module() : block_(std::make_unique<Block>()) {}
Module::~Module() = default;
Module::Module(Module&& other) noexcept = default;
Module& Module::operator=(Module&& other) noexcept = default;

Value Module::input(Type type, std::string name) {
  return block_->parameter(type, std::move(name), false);
}
Value Module::state(Type type, std::string name) {
  return block_->parameter(type, std::move(name), true);
}
void Module::output(Value value) { block_->results.push_back(value); }

void Module::update(Value state, Value value) {
  require(is_parameter(state.node()) && state.node().attr<ParameterAttrs>().state,
          "Module: only state can be updated");
  // Devices are not compared, since values may not have been placed yet.
  require(state.dtype() == value.dtype() && state.shape() == value.shape(), "Module: the state '",
          state.node().attr<ParameterAttrs>().name, "' is ", state.type(), ", its update is ",
          value.type());
  require(updated_.insert(&state.node()).second, "Module: the state '",
          state.node().attr<ParameterAttrs>().name, "' is updated twice");
  updates_.push_back({state, value});
}

Module Module::clone() const {
  Module copy;
  // Updates are copied as additional results, so that one copy maps everything.
  const size_t results = block_->results.size();
  for (const Update& update : updates_) block_->results.push_back(update.value);
  copy.block_ = clone_block(*block_, 0);
  block_->results.resize(results);
  for (size_t i = 0; i < updates_.size(); ++i) {
    const size_t state = updates_[i].state.node().position();
    copy.update(copy.block_->parameters()[state]->out(), copy.block_->results[results + i]);
  }
  copy.block_->results.resize(results);
  return copy;
}

size_t Module::number() const {
  uint32_t next = 0;
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
