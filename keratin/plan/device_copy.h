#pragma once

#include <mutex>

#include "keratin/plan/device_queue.h"
#include "keratin/tensor/residence.h"

namespace keratin {

// A tensor's bytes on a device, for state that stays there from run to run. All sessions that
// update the tensor on that device share the copy.
class DeviceCopy final : public Residence {
 public:
  // nullptr when the tensor has its copy on another device.
  static std::shared_ptr<DeviceCopy> of(const Tensor& tensor, const Backend& backend,
                                        Device device);

  DeviceCopy(const Tensor& tensor, const Backend& backend, Device device);
  ~DeviceCopy() override;

  void bring_home() override;
  const Tensor& tensor() const { return tensor_; }
  void* address() const { return memory_.get(); }

  // Before a queue runs a program on it: brings what is newer on the host, and waits for other
  // queues that are at it, unless all of them only read. Returns which version of the bytes it is,
  // from 1 on: they are those of the last time when that is the same.
  uint64_t begin(DeviceQueue& queue, bool writes);
  // Before the queue goes away or turns to other state, all of its work being done.
  void end(const DeviceQueue& queue);

 private:
  enum class Newer { neither, host, device };
  void wait_for_users(const DeviceQueue* but = nullptr);

  const Tensor tensor_;
  const Backend& backend_;
  const Device device_;
  std::mutex lock_;
  std::shared_ptr<void> memory_;
  Newer newer_ = Newer::neither;
  std::vector<DeviceQueue*> users_;  // may not be done yet: one that writes, or any that read
  bool written_ = false;             // by the only user
  uint64_t version_ = 1;
};

// What a queue computes and nobody has asked for yet.
class DeviceResult final : public Residence {
 public:
  // The bytes will be in `landing`, memory of the host. nullptr when others compute the tensor too.
  static std::shared_ptr<DeviceResult> of(const Tensor& tensor, DeviceQueue& queue,
                                          const std::byte* landing);

  DeviceResult(const Tensor& tensor, DeviceQueue& queue, const std::byte* landing)
      : tensor_(tensor), queue_(queue), landing_(landing) {}
  ~DeviceResult() override { remove_residence(tensor_.raw()); }

  // Throws what kernels complained of.
  void bring_home() override;
  const Tensor& tensor() const { return tensor_; }
  void set_newer();

 private:
  const Tensor tensor_;
  DeviceQueue& queue_;
  const std::byte* const landing_;
  std::mutex lock_;
  bool newer_ = false;
};

}  // namespace keratin
