#include "keratin/plan/staging.h"

#include <algorithm>

namespace keratin {

std::unique_ptr<Session::Staging> Session::Staging::make(const Plan& plan) {
  std::unique_ptr<Staging> staging(new Staging(plan));
  const auto& devices = staging->devices_;
  const bool needed =
      std::any_of(devices.begin(), devices.end(), [](const auto& d) { return !!d; });
  return needed ? std::move(staging) : nullptr;
}

Session::Staging::Staging(const Plan& plan)
    : plan_(plan),
      inputs_(plan.module.block().parameters().size()),
      outputs_(plan.results().size()) {
  for (const Queue& queue : plan.queues) devices_.push_back(queue.backend->open(queue.device));
}

DeviceQueue* Session::Staging::device_of(Device device) const {
  for (size_t i = 0; i < plan_.queues.size(); ++i)
    if (plan_.queues[i].device == device) return devices_[i].get();
  return nullptr;
}

Session::Staging::Copy Session::Staging::make_copy(const Type& type, bool returns) const {
  Copy copy;
  copy.device = device_of(type.device);
  copy.bytes = bytes_of(type);
  copy.returns = returns;
  if (copy.device != nullptr) copy.there = copy.device->allocate(copy.bytes);
  return copy;
}

void* Session::Staging::place_input(size_t index, bool used) {
  const Value parameter = plan_.module.block().parameters()[index]->out();
  const auto& updates = plan_.module.updates();
  const bool updated = std::any_of(updates.begin(), updates.end(),
                                   [&](const Update& u) { return u.state == parameter; });
  if (used) inputs_[index] = make_copy(parameter.type(), updated);
  return inputs_[index].there;
}

void* Session::Staging::place_output(size_t index) {
  outputs_[index] = make_copy(plan_.results()[index].type(), true);
  return outputs_[index].there;
}

void* Session::Staging::keep_input(size_t index, const Tensor& state) {
  Copy& copy = inputs_[index];
  if (copy.device == nullptr) return nullptr;
  if (copy.kept && copy.kept->tensor().raw() == state.raw()) return copy.kept->address();
  const Type& type = plan_.module.block().parameters()[index]->type();
  for (const Queue& queue : plan_.queues)
    if (queue.device == type.device) copy.kept = DeviceCopy::of(state, *queue.backend, type.device);
  // Steps that were recorded used another address.
  if (recorded_ == Recorded::yes) recorded_ = Recorded::once_run;
  return copy.kept ? copy.kept->address() : nullptr;
}

void Session::Staging::run(const std::function<void()>& steps) {
  DeviceQueue& device = *devices_[0];
  device.enter();
  if (recorded_ == Recorded::once_run)
    recorded_ = device.record(steps) ? Recorded::yes : Recorded::never;
  if (recorded_ == Recorded::yes) return device.replay();
  steps();
  if (recorded_ == Recorded::not_yet) recorded_ = Recorded::once_run;
}

void Session::Staging::upload() {
  for (const Copy& copy : inputs_) {
    if (copy.device == nullptr) continue;
    if (copy.kept) {
      copy.kept->refresh();
    } else {
      copy.device->upload(copy.there, copy.here, copy.bytes);
    }
  }
}

void Session::Staging::download() {
  for (const auto* copies : {&inputs_, &outputs_})
    for (const Copy& copy : *copies)
      if (copy.device != nullptr && copy.returns && !copy.kept)
        copy.device->download(copy.here, copy.there, copy.bytes);
  for (const auto& device : devices_)
    if (device) device->finish();
  for (const Copy& copy : inputs_)
    if (copy.kept && copy.returns) copy.kept->set_newer();
}

}  // namespace keratin
