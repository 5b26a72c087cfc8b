#include "keratin/plan/device_copy.h"

#include <utility>

namespace keratin {

std::shared_ptr<DeviceCopy> DeviceCopy::of(const Tensor& tensor, const Backend& backend,
                                           Device device) {
  if (const auto known = find_residence(tensor.raw())) {
    auto copy = std::dynamic_pointer_cast<DeviceCopy>(known);
    if (copy && copy->device_ == device && copy->tensor_.bytes() == tensor.bytes()) return copy;
    known->bring_home();
    return nullptr;
  }
  auto made = std::make_shared<DeviceCopy>(tensor, backend, device);
  add_residence(tensor.raw(), made);
  return made;
}

DeviceCopy::DeviceCopy(const Tensor& tensor, const Backend& backend, Device device)
    : tensor_(tensor), backend_(backend), device_(device), memory_(backend.keep(device, tensor)) {}

DeviceCopy::~DeviceCopy() {
  remove_residence(tensor_.raw());
  if (newer_ != Newer::device) return;
  try {
    backend_.move(device_, tensor_.raw(), memory_.get(), tensor_.bytes());
  } catch (const BackendError&) {
    // The program ends and the device is gone: nobody can look at the bytes any more.
  }
}

void DeviceCopy::bring_home() {
  const std::lock_guard guard(lock_);
  if (user_ != nullptr) user_->wait();  // who asks may write
  if (newer_ == Newer::device)
    backend_.move(device_, tensor_.raw(), memory_.get(), tensor_.bytes());
  newer_ = Newer::host;
}

void DeviceCopy::begin(DeviceQueue& queue, bool writes) {
  const std::lock_guard guard(lock_);
  if (user_ != nullptr && user_ != &queue) user_->wait();
  user_ = &queue;
  if (newer_ == Newer::host) {
    backend_.move(device_, memory_.get(), tensor_.raw(), tensor_.bytes());
    newer_ = Newer::neither;
  }
  if (writes) newer_ = Newer::device;
}

void DeviceCopy::end(const DeviceQueue& queue) {
  const std::lock_guard guard(lock_);
  if (user_ == &queue) user_ = nullptr;
}

std::shared_ptr<DeviceResult> DeviceResult::of(const Tensor& tensor, DeviceQueue& queue,
                                               const std::byte* landing) {
  if (const auto known = find_residence(tensor.raw())) {
    known->bring_home();
    return nullptr;
  }
  auto made = std::make_shared<DeviceResult>(tensor, queue, landing);
  add_residence(tensor.raw(), made);
  return made;
}

void DeviceResult::bring_home() {
  const std::lock_guard guard(lock_);
  if (!std::exchange(newer_, false)) return;
  queue_.wait();
  std::memcpy(tensor_.raw(), landing_, tensor_.bytes());
  queue_.complain();
}

void DeviceResult::set_newer() {
  const std::lock_guard guard(lock_);
  newer_ = true;
}

}  // namespace keratin
