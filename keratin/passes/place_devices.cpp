#include "keratin/passes/place_devices.h"

#include <optional>

namespace keratin {

namespace {

using NodeDevices = std::vector<std::optional<Device>>;  // by the number of the node

std::optional<Device> find_device(const Node& node, const DeviceHints& hints,
                                  const NodeDevices& devices) {
  if (const auto hint = hints.find(&node); hint != hints.end()) return hint->second;
  if (node.op().places) return node.device();
  for (const Value& input : node.inputs()) {
    if (input.node().op().places) return input.type().device;
    if (const auto& device = devices[input.node().id()]) return device;
  }
  return std::nullopt;
}

}  // namespace

Module place_devices(Module module, const DeviceHints& hints) {
  NodeDevices devices(module.number());
  const Block& block = module.block();
  for (const auto& parameter : block.parameters()) devices[parameter->id()] = parameter->device();
  for (const auto& node : block.nodes()) devices[node->id()] = find_device(*node, hints, devices);

  // The rest depends on constants alone and runs where its first user does: walking backwards, the
  // first user comes last.
  std::vector<bool> open(devices.size(), false);
  for (const auto& node : block.nodes()) open[node->id()] = !devices[node->id()].has_value();
  const auto place = [&](Value value, Device device) {
    if (open[value.node().id()]) devices[value.node().id()] = device;
  };
  for (const Update& update : module.updates()) place(update.value, update.state.type().device);
  for (size_t i = block.nodes().size(); i-- > 0;) {
    Node& node = *block.nodes()[i];
    const Device device = devices[node.id()].value_or(Device{});
    for (size_t k = 0; k < node.input_count(); ++k)
      place(node.in(k), node.op().places ? node.type(k).device : device);
    if (!node.op().places) node.place(device);
  }
  return module;
}

}  // namespace keratin
