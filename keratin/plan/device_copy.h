#pragma once

#include <mutex>

#include "keratin/plan/backend.h"
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
  // Before and after a program runs on it.
  void refresh();
  void set_newer();

 private:
  enum class Newer { neither, host, device };

  const Tensor tensor_;
  const Backend& backend_;
  const Device device_;
  std::mutex lock_;
  std::shared_ptr<void> memory_;
  Newer newer_ = Newer::neither;
};

}  // namespace keratin
