#include "keratin/passes/place_devices.h"

#include <optional>

namespace keratin {

namespace {

using Places = std::vector<std::optional<Device>>;  // by the number of the node

std::optional<Device> forward_place(const Node& node, const DeviceHints& hints,
                                    const Places& places) {
  if (const auto hint = hints.find(&node); hint != hints.end()) return hint->second;
  if (node.op().places) return node.device();
  for (const Value& input : node.inputs()) {
    if (input.node().op().places) return input.type().device;
    if (const auto& place = places[input.node().id()]) return place;
  }
  return std::nullopt;
}

}  // namespace

Module place_devices(Module module, const DeviceHints& hints) {
  Places places(module.number());
  const Block& block = module.block();
  for (const auto& parameter : block.parameters()) places[parameter->id()] = parameter->device();
  for (const auto& node : block.nodes()) places[node->id()] = forward_place(*node, hints, places);

  // What is left depends on constants alone. Users say where; walking back, the first one last.
  std::vector<bool> open(places.size(), false);
  for (const auto& node : block.nodes()) open[node->id()] = !places[node->id()].has_value();
  const auto say = [&](Value value, Device device) {
    if (open[value.node().id()]) places[value.node().id()] = device;
  };
  for (const Update& update : module.updates()) say(update.value, update.state.type().device);
  for (size_t i = block.nodes().size(); i-- > 0;) {
    Node& node = *block.nodes()[i];
    const Device device = places[node.id()].value_or(Device{});
    for (size_t k = 0; k < node.input_count(); ++k)
      say(node.in(k), node.op().places ? node.type(k).device : device);
    if (!node.op().places) node.place(device);
  }
  return module;
}

}  // namespace keratin
