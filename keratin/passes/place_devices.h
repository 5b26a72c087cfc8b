#pragma once

#include <unordered_map>

#include "keratin/ir/module.h"
#include "keratin/ir/node.h"

namespace keratin {

// The devices of some nodes.
using DeviceHints = std::unordered_map<const Node*, Device>;

// Chooses the device of every node; parameters are on their declared devices. A node runs
//   - on the device that a hint gives, or else
//   - on the device that its op gives (a transfer), or else
//   - on the device of its first input that does not depend on constants alone, or else
//   - where its first user runs (for an update: on the device of the state).
// A region runs where its node does. Values may then be on other devices than their users, which
// `insert_transfers` resolves.
Module place_devices(Module module, const DeviceHints& hints = {});

}  // namespace keratin
