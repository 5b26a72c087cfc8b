#pragma once

#include <cstring>
#include <memory>
#include <string>

#include "keratin/plan/kernel.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

class DeviceQueue;  // see device_queue.h

// What runs nodes on one kind of device. Knows ops, not layers; never another backend.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Whether `make` would give a kernel. Cheap: called for every node before decompositions are
  // chosen.
  virtual bool claims(const Node& node) const = 0;
  // The best kernel for the node, and why better ones refused it.
  virtual Choice make(const Node& node, const KernelOptions& options) const = 0;

  // The rest is for devices with memory of their own. Kernels of other devices run synchronously,
  // in the host's memory.
  virtual std::unique_ptr<DeviceQueue> open(Device) const;
  // A copy of the bytes on the device.
  virtual std::shared_ptr<void> keep(Device, const Tensor&) const { return nullptr; }
  // Copies between the host and the device; complete when it returns.
  virtual void move(Device, void* to, const void* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
  // Copies within a device, in the order of the launches.
  virtual void copy(void* to, const void* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
  // Copies to the host after all launches; complete when it returns.
  virtual void fetch(void* to, const void* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
};

}  // namespace keratin
