#include "keratin/plan/device_copy.h"

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
  if (newer_ == Newer::device)
    backend_.move(device_, tensor_.raw(), memory_.get(), tensor_.bytes());
  newer_ = Newer::host;
}

void DeviceCopy::refresh() {
  const std::lock_guard guard(lock_);
  if (newer_ == Newer::host) backend_.move(device_, memory_.get(), tensor_.raw(), tensor_.bytes());
  newer_ = Newer::neither;
}

void DeviceCopy::set_newer() {
  const std::lock_guard guard(lock_);
  newer_ = Newer::device;
}

}  // namespace keratin
