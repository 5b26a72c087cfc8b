#pragma once

#include "keratin/graph/variable.h"

namespace keratin {

// A variable that lies on several devices: cut along an axis into parts, which may be cut in turn,
// or mirrored, so that every part is all of it. The parts are ordinary variables. Programs read and
// update these; everybody else sees one variable, whose value is put together when asked for.
struct VariableParts {
  std::optional<int64_t> axis;  // nothing for mirrors
  std::vector<Variable> parts;
  // Where replicas work with the parts: by the device that leads a replica, a device for each.
  std::vector<std::pair<Device, std::vector<Device>>> peers = {};

  bool mirrored() const { return !axis; }
  std::vector<Device> devices() const;
  // Where the replica that a device leads works with a part; that device itself, unless told.
  Device place(Device lead, size_t part) const;
};

// nullptr where a variable is whole. Valid until it is cut or moved.
const VariableParts* parts_of(const Variable& variable);

// Cuts a variable into equal parts, one on each of the devices. As moving it: when no program runs.
void split(const Variable& variable, int64_t axis, const std::vector<Device>& devices,
           std::vector<std::pair<Device, std::vector<Device>>> peers = {});
// Gives each of the devices a copy of a variable. Programs keep them equal.
void mirror(const Variable& variable, const std::vector<Device>& devices);
// Lays a variable as another one of its shape lies: on its device, in parts, or mirrored.
void lay_beside(const Variable& variable, const Variable& other);
// Does what lays these variables elsewhere. When it throws, for want of memory, they lie as before.
void lay_all_or_none(const std::vector<Variable>& variables, const std::function<void()>& lay_all);

}  // namespace keratin
