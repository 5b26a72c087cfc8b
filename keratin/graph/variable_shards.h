#pragma once

#include <functional>

#include "keratin/graph/variable.h"

namespace keratin {

// How a variable is stored on several devices: cut along an axis into shards, which may be cut in
// turn, or mirrored, so that every shard is a copy of the whole. Shards are ordinary variables.
// Programs read and update the shards; all other code sees one variable, whose value is gathered
// when it is read.
struct VariableShards {
  std::optional<int64_t> axis;  // none for mirrored variables
  std::vector<Variable> shards;
  // On which devices a replica works with the shards: the replica's first device, then one device
  // for each shard.
  std::vector<std::pair<Device, std::vector<Device>>> peers = {};

  bool mirrored() const { return !axis; }
  std::vector<Device> devices() const;
  // Where the replica whose first device is `lead` works with a shard: there, or on
  // the device that `peers` names.
  Device device_for(Device lead, size_t shard) const;
};

// nullptr for a variable that is stored whole. Valid until the variable is sharded or moved.
const VariableShards* shards_of(const Variable& variable);

// These move a variable, so no program may run meanwhile.
// Cuts a variable into equal shards, one on each of the devices.
void shard_variable(const Variable& variable, int64_t axis, const std::vector<Device>& devices,
                    std::vector<std::pair<Device, std::vector<Device>>> peers = {});
// Gives each of the devices a copy of a variable. Programs keep the copies equal.
void mirror_variable(const Variable& variable, const std::vector<Device>& devices);
// Stores a variable as another variable of the same shape is stored: on its device, in shards, or
// mirrored.
void store_like(const Variable& variable, const Variable& other);
// Runs `move_all`, which stores these variables elsewhere. If it throws, for lack of memory, they
// are stored as before.
void move_all_or_none(const std::vector<Variable>& variables,
                      const std::function<void()>& move_all);

// For Variable itself. Puts the value of all shards together, and splits it again.
void gather(const VariableShards& from, const Tensor& whole);
void scatter(const Tensor& whole, const VariableShards& to);
// From now on the variable is stored in these shards, which hold its value.
void set_shards(const Variable& variable, VariableShards shards);
// A variable that draws no seed: a model on several devices begins with the weights that it has on
// one.
Variable make_shard(VariableSpec spec);

}  // namespace keratin
