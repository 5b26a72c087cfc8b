#include "keratin/plan/staging.h"

#include <algorithm>

#include "keratin/base/processors.h"
#include "keratin/ops/indexing.h"
#include "keratin/plan/chunked_copy.h"
#include "keratin/plan/dependencies.h"

namespace keratin {

namespace {

// Limits of staging memory, of which a system has little: for an input block, and for a result.
constexpr size_t max_block = size_t{256} << 20, max_staged = size_t{16} << 20;
// Results that a device writes straight into staging memory, which saves a copy.
constexpr size_t small_result = 1024;
// One thread cannot copy as fast as a device can receive.
unsigned staging_threads() {
  static const unsigned threads = std::min(8U, static_cast<unsigned>(available_processors()) / 2);
  return threads;
}

}  // namespace

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
      outputs_(plan.results().size()),
      blocks_(plan.queues.size()) {
  for (const Queue& queue : plan.queues) devices_.push_back(queue.backend->open(queue.device));
  describe_inputs();
  make_blocks();
  describe_outputs();
}

Session::Staging::~Staging() {
  try {
    for (const auto& device : devices_)
      if (device) device->wait();
    for (Copy& copy : outputs_) {
      finish_previous(copy);
      if (copy.deferred) copy.deferred->copy_to_host();
    }
  } catch (const std::exception&) {
    // The device is gone, or a kernel failed; nobody reads the results any more.
  }
  for (const Copy& copy : inputs_)
    if (copy.resident) copy.resident->end(*copy.device);
}

DeviceQueue* Session::Staging::device_of(Device device) const {
  for (size_t i = 0; i < plan_.queues.size(); ++i)
    if (plan_.queues[i].device == device) return devices_[i].get();
  return nullptr;
}

void Session::Staging::describe_inputs() {
  std::vector<bool> used(inputs_.size());
  for (const PlanStep& step : plan_.steps)
    for (const Slot& slot : step.slots)
      if (slot.kind == Slot::Kind::input) used[slot.index] = true;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Value parameter = plan_.module.block().parameters()[i]->out();
    if (!used[i]) continue;
    inputs_[i].device = device_of(parameter.type().device);
    inputs_[i].bytes = bytes_of(parameter.type());
    const auto& updates = plan_.module.updates();
    inputs_[i].is_written = std::any_of(updates.begin(), updates.end(),
                                        [&](const Update& u) { return u.state == parameter; });
  }
}

void Session::Staging::make_blocks() {
  constexpr size_t alignment = 256;
  for (size_t q = 0; q < devices_.size(); ++q) {
    if (!devices_[q]) continue;
    InputBlock& block = blocks_[q];
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Copy& copy = inputs_[i];
      const Node& parameter = *plan_.module.block().parameters()[i];
      copy.in_block = copy.device == devices_[q].get() && !parameter.attr<ParameterAttrs>().state &&
                      block.bytes + copy.bytes <= max_block;
      if (!copy.in_block) continue;
      block.inputs.emplace_back(i, block.bytes);
      block.bytes += (copy.bytes + alignment - 1) / alignment * alignment;
    }
    if (block.bytes == 0) continue;
    block.on_device = devices_[q]->allocate(block.bytes);
    block.on_host = devices_[q]->allocate_host(block.bytes);
    for (const auto& [input, offset] : block.inputs)
      inputs_[input].on_device = block.on_device + offset;
  }
}

void Session::Staging::describe_outputs() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Copy& copy = outputs_[i];
    const Type& type = plan_.results()[i].type();
    copy.device = device_of(type.device);
    copy.bytes = bytes_of(type);
    copy.is_written = true;
    if (copy.device == nullptr) continue;
    if (copy.bytes <= max_staged) copy.staged = copy.device->allocate_host(copy.bytes);
    copy.on_device = copy.bytes <= small_result ? copy.staged : copy.device->allocate(copy.bytes);
  }
}

void* Session::Staging::set_input(size_t index, void* address) {
  Copy& copy = inputs_[index];
  copy.on_host = address;
  if (copy.device == nullptr) return address;
  release_resident(copy);
  if (copy.on_device == nullptr) {
    copy.on_device = copy.device->allocate(copy.bytes);
    if (copy.is_written && copy.bytes <= max_staged)
      copy.staged = copy.device->allocate_host(copy.bytes);
  }
  return copy.on_device;
}

void* Session::Staging::set_output(size_t index, void* address) {
  Copy& copy = outputs_[index];
  copy.on_host = address;
  finish_previous(copy);  // if the last run failed before it could
  copy.previous = std::move(copy.deferred);
  return copy.device == nullptr ? address : copy.on_device;
}

// Completes the last run's result: its staging memory is about to be overwritten.
void Session::Staging::finish_previous(Copy& copy) {
  if (const auto previous = std::move(copy.previous)) previous->copy_to_host();
}

void* Session::Staging::set_resident_input(size_t index, const Tensor& state) {
  Copy& copy = inputs_[index];
  if (copy.device == nullptr) return nullptr;
  if (copy.resident && copy.resident->tensor().raw() == state.raw())
    return copy.resident->address();
  release_resident(copy);
  const Type& type = plan_.module.block().parameters()[index]->type();
  copy.version = 0;
  for (const Queue& queue : plan_.queues)
    if (queue.device == type.device)
      copy.resident = DeviceCopy::of(state, *queue.backend, type.device);
  forget_record();
  return copy.resident ? copy.resident->address() : nullptr;
}

// Waits for all work on the state: its memory may be reused at once.
void Session::Staging::release_resident(Copy& copy) {
  if (copy.resident == nullptr) return;
  copy.device->wait();
  copy.resident->end(*copy.device);
  copy.resident = nullptr;
  forget_record();
}

void* Session::Staging::set_deferred_output(size_t index, const Tensor& result) {
  Copy& copy = outputs_[index];
  if (copy.device == nullptr || copy.staged == nullptr) return set_output(index, result.raw());
  if (copy.deferred == nullptr || copy.deferred->tensor().raw() != result.raw()) {
    set_output(index, result.raw());
    copy.deferred = DeferredResult::of(result, *copy.device, copy.staged);
  }
  return copy.on_device;
}

void Session::Staging::run(std::span<const Launch> steps) {
  DeviceQueue& device = *devices_[0];
  device.enter();
  if (state_changed_)
    for (const Launch& step : steps.first(plan_.stable_steps)) step();
  state_changed_ = false;
  steps = steps.subspan(plan_.stable_steps);
  if (recorded_ == Recorded::ran_once)
    recorded_ =
        device.record(steps, find_repeated_dependencies(plan_)) ? Recorded::yes : Recorded::never;
  if (recorded_ == Recorded::yes) return device.replay();
  device.receive_staged();
  for (const Launch& step : steps) step();
  if (recorded_ == Recorded::not_yet) recorded_ = Recorded::ran_once;
}

void Session::Staging::send_block(size_t queue) {
  const InputBlock& block = blocks_[queue];
  if (block.bytes == 0) return;
  devices_[queue]->wait_sent();
  const ChunkedCopy::Copy copy = [&](size_t begin, size_t end) {
    for (const auto& [input, offset] : block.inputs) {
      const size_t first = std::max(begin, offset),
                   last = std::min(end, offset + inputs_[input].bytes);
      if (first < last)
        std::memcpy(block.on_host + first,
                    static_cast<std::byte*>(inputs_[input].on_host) + (first - offset),
                    last - first);
    }
  };
  ChunkedCopy staged(block.bytes, plan_.concurrent_queues ? staging_threads() : 1, copy);
  devices_[queue]->send_staged(block.on_device, block.on_host, block.bytes,
                               [&](size_t known) { return staged.wait(known); });
}

void Session::Staging::check_indices() const {
  for (const IndexInput& checked : plan_.index_inputs) {
    const PlanStep& step = plan_.steps[checked.step];
    const auto check = [&](const auto* indices) {
      for (const auto index :
           std::span(indices + checked.first, static_cast<size_t>(checked.count)))
        ops::checked_index(*step.node, index, checked.size);
    };
    const void* const input = inputs_[checked.input].on_host;
    try {
      step.node->in(1).dtype() == DType::i32 ? check(static_cast<const int32_t*>(input))
                                             : check(static_cast<const int64_t*>(input));
    } catch (const UserError&) {
      if (plan_.queues.size() == 1) throw;
      rethrow(plan_, step, std::current_exception());
    }
  }
}

void Session::Staging::upload() {
  check_indices();
  for (size_t q = 0; q < devices_.size(); ++q) {
    if (!devices_[q]) continue;
    devices_[q]->throw_errors();
    send_block(q);
  }
  for (Copy& copy : outputs_) finish_previous(copy);
  for (Copy& copy : inputs_) {
    if (copy.device == nullptr || copy.in_block) continue;
    if (copy.resident) {
      const uint64_t version = copy.resident->begin(*copy.device, copy.is_written);
      if (std::exchange(copy.version, version) != version && !copy.is_written)
        state_changed_ = true;
    } else {
      copy.device->upload(copy.on_device, copy.on_host, copy.bytes);
      state_changed_ = true;
    }
  }
}

void Session::Staging::receive() {
  for (const auto& device : devices_)
    if (device) device->receive_staged();
  // Steps of other queues read the inputs too, and wait for steps only.
  if (plan_.queues.size() > 1)
    for (const auto& device : devices_)
      if (device) device->wait();
}

template <class Visit>
void Session::Staging::each_written(const Visit& visit) {
  for (const auto* copies : {&inputs_, &outputs_})
    for (const Copy& copy : *copies)
      if (copy.device != nullptr && copy.is_written && !copy.resident) visit(copy);
}

bool Session::Staging::all_deferred() const {
  return plan_.queues.size() == 1 &&
         std::all_of(inputs_.begin(), inputs_.end(),
                     [](const Copy& c) { return !c.is_written || c.resident; }) &&
         std::all_of(outputs_.begin(), outputs_.end(), [](const Copy& c) { return !!c.deferred; });
}

void Session::Staging::download() {
  each_written([](const Copy& copy) {
    if (copy.staged != nullptr && copy.staged != copy.on_device)
      copy.device->download(copy.staged, copy.on_device, copy.bytes);
  });
  if (all_deferred()) {
    for (const Copy& copy : outputs_) copy.deferred->set_newer();
  } else {
    for (const auto& device : devices_)
      if (device) device->wait();
    copy_to_caller();
    for (const auto& device : devices_)
      if (device) device->finish();
  }
}

void Session::Staging::copy_to_caller() {
  each_written([](const Copy& copy) {
    if (copy.staged == nullptr) {
      copy.device->download(copy.on_host, copy.on_device, copy.bytes);
    } else if (copy.bytes > 0) {
      std::memcpy(copy.on_host, copy.staged, copy.bytes);
    }
  });
}

}  // namespace keratin
