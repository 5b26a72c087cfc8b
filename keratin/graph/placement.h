#pragma once

#include <optional>
#include <unordered_map>

#include "keratin/graph/call.h"

namespace keratin {

// The device on which the calls that are being written run, and the copies of values that were sent
// to devices for them.
class Placement {
 public:
  // Nothing where calls run wherever their tensors are.
  const std::optional<Device>& device() const { return device_; }

  // The value on a device. A value that several calls need there is sent once.
  Value bring(Value value, Device device);
  Arguments<Traced> bring(Arguments<Traced> arguments, Device device);

 private:
  friend class PlacementScope;

  struct Copy {
    Value value;
    Device device;
    bool operator==(const Copy&) const = default;
  };
  struct CopyHash {
    size_t operator()(const Copy& key) const;
  };

  std::optional<Device> device_;
  std::unordered_map<Copy, Value, CopyHash> copies_;
};

// While it lives, calls run and variables are read on a device, or wherever their tensors are.
class PlacementScope {
 public:
  PlacementScope(Placement& placement, std::optional<Device> device)
      : placement_(placement), outer_(placement.device_) {
    placement_.device_ = device;
  }
  ~PlacementScope() { placement_.device_ = outer_; }
  PlacementScope(const PlacementScope&) = delete;
  PlacementScope& operator=(const PlacementScope&) = delete;

 private:
  Placement& placement_;
  std::optional<Device> outer_;
};

}  // namespace keratin
