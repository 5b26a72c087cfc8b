#pragma once

#include <unordered_map>

#include "keratin/ir/module.h"

namespace keratin {

// Where some nodes shall run.
using DeviceHints = std::unordered_map<const Node*, Device>;

// Says of every node where it runs; parameters are where they were declared. A node runs
//   - where a hint says, or else
//   - where its op says (a transfer), or else
//   - on the device of its first input that is more than constants, or else
//   - being made of constants alone, where its first user runs (its state lives, for an update).
// A region runs where its node does. Values may now be on other devices than their users:
// `insert_transfers` is next.
Module place_devices(Module module, const DeviceHints& hints = {});

}  // namespace keratin
