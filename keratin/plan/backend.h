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
  // Would `make` give a kernel? Cheap: asked of every node before decompositions are chosen.
  virtual bool claims(const Node& node) const = 0;
  // The best kernel for the node, and why better ones refused it.
  virtual Choice make(const Node& node, const KernelOptions& options) const = 0;

  // What follows is for devices with memory of their own; otherwise kernels run at once, on the
  // host's memory.
  virtual std::unique_ptr<DeviceQueue> open(Device) const;
  // A copy of the bytes on the device.
  virtual std::shared_ptr<void> keep(Device, const Tensor&) const { return nullptr; }
  // Between the host and the device, at once.
  virtual void move(Device, void* to, const void* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
  // Copies within a device, in the order of the launches.
  virtual void copy(void* to, const void* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
  // Brings bytes to the host, after all that was launched.
  virtual void fetch(void* to, const void* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
};

}  // namespace keratin
