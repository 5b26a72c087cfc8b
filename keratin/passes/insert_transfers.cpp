#include "keratin/passes/insert_transfers.h"

#include "keratin/base/hash.h"
#include "keratin/ir/rewrite.h"
#include "keratin/ops/records.h"
#include "keratin/ops/transfer.h"

namespace keratin {

namespace {

class Transfers {
 public:
  Value bring(Value value, Device device) {
    if (value.type().device == device) return value;
    Value& there = known_[{value, device}];
    if (!there.defined()) there = copy(value, device);
    return there;
  }

 private:
  struct Key {
    Value value;
    Device device;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      const auto node = reinterpret_cast<size_t>(&key.value.node());
      return detail::mix(detail::mix(node, key.value.index()), key.device.hash());
    }
  };

  static Value copy(Value value, Device device) {
    const Node& node = value.node();
    const bool made_from_nothing = node.input_count() == 0 && !is_parameter(node);
    if (!made_from_nothing) return ops::transfer(value, device);
    Node& twin = node.block().append_typed(node.op(), {}, node.attrs(), node.types());
    twin.place(device);
    return twin.out(value.index());
  }

  std::unordered_map<Key, Value, Hash> known_;
};

std::vector<std::unique_ptr<Block>> clone_regions(const Node& node) {
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& region : node.regions())
    regions.push_back(clone_block(*region, region->depth()));
  return regions;
}

// Where a node reads an input: an op that places its outputs reads input i where output i is.
Device device_of_input(const Node& node, size_t i) {
  return node.op().places ? node.type(i).device : node.device();
}

}  // namespace

Module insert_transfers(Module module) {
  Transfers transfers;
  module = rewrite(std::move(module), [&](const Node& node) -> std::optional<Values> {
    if (&node.op() == &ops::transfer_op && node.in().type().device == node.device())
      return Values{node.in()};
    if (&node.op() == &ops::transfer_op || node.block().depth() > 0) return std::nullopt;
    Values inputs;
    for (size_t i = 0; i < node.input_count(); ++i)
      inputs.push_back(transfers.bring(node.in(i), device_of_input(node, i)));
    if (inputs == node.inputs()) return std::nullopt;
    return node.block()
        .append_typed(node.op(), inputs, node.attrs(), node.types(), clone_regions(node))
        .outputs();
  });
  for (Update& update : module.updates())
    update.value = transfers.bring(update.value, update.state.type().device);
  return module;
}

}  // namespace keratin
