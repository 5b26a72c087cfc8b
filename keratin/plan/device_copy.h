#pragma once

#include <mutex>

#include "keratin/plan/device_queue.h"
#include "keratin/tensor/resident_copy.h"

namespace keratin {

// A tensor's bytes on a device, for state that stays resident there between runs. All sessions that
// update the tensor on that device share the copy.
class DeviceCopy final : public ResidentCopy {
 public:
  // nullptr when the tensor is resident on another device.
  static std::shared_ptr<DeviceCopy> of(const Tensor& tensor, const Backend& backend,
                                        Device device);

  DeviceCopy(const Tensor& tensor, const Backend& backend, Device device);
  ~DeviceCopy() override;

  void copy_to_host() override;
  const Tensor& tensor() const { return tensor_; }
  void* address() const { return memory_.get(); }

  // To be called before a queue runs a program on the copy. Uploads the host's bytes if these are
  // newer, and waits for other queues that use it, unless all of them only read. Returns the
  // version of the bytes, from 1 on: the same version means the same bytes.
  uint64_t begin(DeviceQueue& queue, bool writes);
  // To be called before the queue is destroyed or uses other state, when all its work is done.
  void end(const DeviceQueue& queue);

 private:
  enum class Newer { neither, host, device };
  void wait_for_users(const DeviceQueue* except = nullptr);

  const Tensor tensor_;
  const Backend& backend_;
  const Device device_;
  std::mutex lock_;
  std::shared_ptr<void> memory_;
  Newer newer_ = Newer::neither;
  std::vector<DeviceQueue*> users_;  // may still be at work: one that writes, or several that read
  bool written_ = false;             // by the only user
  uint64_t version_ = 1;
};

// A result that a queue computes, and that is copied to the tensor only when the tensor is read.
class DeferredResult final : public ResidentCopy {
 public:
  // The queue downloads the bytes to `staged`, memory of the host. nullptr when the tensor is
  // resident already.
  static std::shared_ptr<DeferredResult> of(const Tensor& tensor, DeviceQueue& queue,
                                            const std::byte* staged);

  DeferredResult(const Tensor& tensor, DeviceQueue& queue, const std::byte* staged)
      : tensor_(tensor), queue_(queue), staged_(staged) {}
  ~DeferredResult() override { remove_resident_copy(tensor_.raw()); }

  // Throws the errors that kernels have reported.
  void copy_to_host() override;
  const Tensor& tensor() const { return tensor_; }
  void set_newer();

 private:
  const Tensor tensor_;
  DeviceQueue& queue_;
  const std::byte* const staged_;
  std::mutex lock_;
  bool newer_ = false;
};

}  // namespace keratin
