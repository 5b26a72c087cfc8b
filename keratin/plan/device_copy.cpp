#include "keratin/plan/device_copy.h"

#include <algorithm>
#include <utility>

#include "keratin/tensor/state_version.h"

namespace keratin {

std::shared_ptr<DeviceCopy> DeviceCopy::of(const Tensor& tensor, const Backend& backend,
                                           Device device) {
  if (const auto known = find_resident_copy(tensor.raw())) {
    auto copy = std::dynamic_pointer_cast<DeviceCopy>(known);
    if (copy && copy->device_ == device && copy->tensor_.bytes() == tensor.bytes()) return copy;
    known->copy_to_host();
    return nullptr;
  }
  auto made = std::make_shared<DeviceCopy>(tensor, backend, device);
  add_resident_copy(tensor.raw(), made);
  return made;
}

DeviceCopy::DeviceCopy(const Tensor& tensor, const Backend& backend, Device device)
    : tensor_(tensor), backend_(backend), device_(device), memory_(backend.keep(device, tensor)) {}

DeviceCopy::~DeviceCopy() {
  remove_resident_copy(tensor_.raw());
  if (newer_ != Newer::device) return;
  try {
    backend_.move(device_, tensor_.raw(), memory_.get(), tensor_.bytes());
  } catch (const BackendError&) {
    // The device is gone, so the bytes are lost; the process is ending.
  }
}

void DeviceCopy::wait_for_users(const DeviceQueue* except) {
  for (DeviceQueue* user : users_)
    if (user != except) user->wait();
}

void DeviceCopy::copy_to_host() {
  const std::lock_guard guard(lock_);
  wait_for_users();  // the caller may write to the host's bytes
  if (newer_ == Newer::device)
    backend_.move(device_, tensor_.raw(), memory_.get(), tensor_.bytes());
  if (newer_ == Newer::device) state_written(tensor_.raw());
  newer_ = Newer::host;
}

uint64_t DeviceCopy::begin(DeviceQueue& queue, bool writes) {
  const std::lock_guard guard(lock_);
  const bool alone = users_.size() == 1 && users_[0] == &queue;
  if (!alone && (writes || written_ || newer_ == Newer::host)) {
    wait_for_users(&queue);
    users_.clear();
  }
  if (std::find(users_.begin(), users_.end(), &queue) == users_.end()) users_.push_back(&queue);
  written_ = writes || (alone && written_);
  if (newer_ == Newer::host) {
    backend_.move(device_, memory_.get(), tensor_.raw(), tensor_.bytes());
    newer_ = Newer::neither;
    ++version_;
  }
  if (writes) {
    newer_ = Newer::device;
    ++version_;
  }
  return version_;
}

void DeviceCopy::end(const DeviceQueue& queue) {
  const std::lock_guard guard(lock_);
  std::erase(users_, &queue);
}

std::shared_ptr<DeferredResult> DeferredResult::of(const Tensor& tensor, DeviceQueue& queue,
                                                   const std::byte* staged) {
  if (const auto known = find_resident_copy(tensor.raw())) {
    known->copy_to_host();
    return nullptr;
  }
  auto made = std::make_shared<DeferredResult>(tensor, queue, staged);
  add_resident_copy(tensor.raw(), made);
  return made;
}

void DeferredResult::copy_to_host() {
  const std::lock_guard guard(lock_);
  if (!std::exchange(newer_, false)) return;
  queue_.wait();
  std::memcpy(tensor_.raw(), staged_, tensor_.bytes());
  queue_.throw_errors();
}

void DeferredResult::set_newer() {
  const std::lock_guard guard(lock_);
  newer_ = true;
}

}  // namespace keratin
