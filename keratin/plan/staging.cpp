#include "keratin/plan/staging.h"

#include <algorithm>

#include "keratin/ops/indexing.h"
#include "keratin/plan/dependencies.h"
#include "keratin/plan/filling.h"

namespace keratin {

namespace {

// What is sent through memory that the device reads and writes by itself, of which a system has
// little.
constexpr size_t most_fed = size_t{256} << 20, most_landing = size_t{16} << 20;
// Results that a device writes straight into the host's memory: one sending less.
constexpr size_t small_result = 1024;
// One thread copies at a fraction of what the way to a device can take.
unsigned feeding_threads() {
  static const unsigned threads = std::min(8U, std::thread::hardware_concurrency() / 2);
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
      feeds_(plan.queues.size()) {
  for (const Queue& queue : plan.queues) devices_.push_back(queue.backend->open(queue.device));
  describe_inputs();
  make_feeds();
  describe_outputs();
}

Session::Staging::~Staging() {
  try {
    for (const auto& device : devices_)
      if (device) device->wait();
    for (Copy& copy : outputs_) {
      settle(copy);
      if (copy.late) copy.late->bring_home();
    }
  } catch (const std::exception&) {
    // The device is gone, or a kernel complained; nobody waits for the results.
  }
  for (const Copy& copy : inputs_)
    if (copy.kept) copy.kept->end(*copy.device);
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
    inputs_[i].returns = std::any_of(updates.begin(), updates.end(),
                                     [&](const Update& u) { return u.state == parameter; });
  }
}

void Session::Staging::make_feeds() {
  constexpr size_t alignment = 256;
  for (size_t q = 0; q < devices_.size(); ++q) {
    if (!devices_[q]) continue;
    Feed& feed = feeds_[q];
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Copy& copy = inputs_[i];
      const Node& parameter = *plan_.module.block().parameters()[i];
      copy.fed = copy.device == devices_[q].get() && !parameter.attr<ParameterAttrs>().state &&
                 feed.bytes + copy.bytes <= most_fed;
      if (!copy.fed) continue;
      feed.inputs.emplace_back(i, feed.bytes);
      feed.bytes += (copy.bytes + alignment - 1) / alignment * alignment;
    }
    if (feed.bytes == 0) continue;
    feed.there = devices_[q]->allocate(feed.bytes);
    feed.here = devices_[q]->allocate_host(feed.bytes);
    for (const auto& [input, offset] : feed.inputs) inputs_[input].there = feed.there + offset;
  }
}

void Session::Staging::describe_outputs() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Copy& copy = outputs_[i];
    const Type& type = plan_.results()[i].type();
    copy.device = device_of(type.device);
    copy.bytes = bytes_of(type);
    copy.returns = true;
    if (copy.device == nullptr) continue;
    if (copy.bytes <= most_landing) copy.landing = copy.device->allocate_host(copy.bytes);
    copy.there = copy.bytes <= small_result ? copy.landing : copy.device->allocate(copy.bytes);
  }
}

void* Session::Staging::take_input(size_t index, void* address) {
  Copy& copy = inputs_[index];
  copy.here = address;
  if (copy.device == nullptr) return address;
  let_go(copy);
  if (copy.there == nullptr) {
    copy.there = copy.device->allocate(copy.bytes);
    if (copy.returns && copy.bytes <= most_landing)
      copy.landing = copy.device->allocate_host(copy.bytes);
  }
  return copy.there;
}

void* Session::Staging::take_output(size_t index, void* address) {
  Copy& copy = outputs_[index];
  copy.here = address;
  settle(copy);  // of a run that failed before it could
  copy.last = std::move(copy.late);
  return copy.device == nullptr ? address : copy.there;
}

// Its landing is about to be written again.
void Session::Staging::settle(Copy& copy) {
  if (const auto last = std::move(copy.last)) last->bring_home();
}

void* Session::Staging::keep_input(size_t index, const Tensor& state) {
  Copy& copy = inputs_[index];
  if (copy.device == nullptr) return nullptr;
  if (copy.kept && copy.kept->tensor().raw() == state.raw()) return copy.kept->address();
  let_go(copy);
  const Type& type = plan_.module.block().parameters()[index]->type();
  copy.version = 0;
  for (const Queue& queue : plan_.queues)
    if (queue.device == type.device) copy.kept = DeviceCopy::of(state, *queue.backend, type.device);
  forget_record();
  return copy.kept ? copy.kept->address() : nullptr;
}

// Other state comes instead. Its memory may be another's at once, so nothing is at work on it.
void Session::Staging::let_go(Copy& copy) {
  if (copy.kept == nullptr) return;
  copy.device->wait();
  copy.kept->end(*copy.device);
  copy.kept = nullptr;
  forget_record();
}

void* Session::Staging::keep_output(size_t index, const Tensor& result) {
  Copy& copy = outputs_[index];
  if (copy.device == nullptr || copy.landing == nullptr) return take_output(index, result.raw());
  if (copy.late == nullptr || copy.late->tensor().raw() != result.raw()) {
    take_output(index, result.raw());
    copy.late = DeviceResult::of(result, *copy.device, copy.landing);
  }
  return copy.there;
}

void Session::Staging::run(std::span<const Launch> steps) {
  DeviceQueue& device = *devices_[0];
  device.enter();
  if (changed_)
    for (const Launch& step : steps.first(plan_.once)) step();
  changed_ = false;
  steps = steps.subspan(plan_.once);
  if (recorded_ == Recorded::once_run)
    recorded_ =
        device.record(steps, find_repeated_dependencies(plan_)) ? Recorded::yes : Recorded::never;
  if (recorded_ == Recorded::yes) return device.replay();
  device.take_fed();
  for (const Launch& step : steps) step();
  if (recorded_ == Recorded::not_yet) recorded_ = Recorded::once_run;
}

void Session::Staging::feed(size_t queue) {
  const Feed& feed = feeds_[queue];
  if (feed.bytes == 0) return;
  devices_[queue]->wait_fed();
  const Filling::Copy copy = [&](size_t begin, size_t end) {
    for (const auto& [input, offset] : feed.inputs) {
      const size_t first = std::max(begin, offset),
                   last = std::min(end, offset + inputs_[input].bytes);
      if (first < last)
        std::memcpy(feed.here + first,
                    static_cast<std::byte*>(inputs_[input].here) + (first - offset), last - first);
    }
  };
  Filling filling(feed.bytes, plan_.side_by_side ? feeding_threads() : 1, copy);
  devices_[queue]->feed(feed.there, feed.here, feed.bytes,
                        [&](size_t known) { return filling.wait(known); });
}

void Session::Staging::check_indices() const {
  for (const IndexInput& look : plan_.index_inputs) {
    const PlanStep& step = plan_.steps[look.step];
    const auto check = [&](const auto* indices) {
      for (const auto index : std::span(indices + look.first, static_cast<size_t>(look.count)))
        ops::checked_index(*step.node, index, look.size);
    };
    const void* const input = inputs_[look.input].here;
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
    devices_[q]->complain();
    feed(q);
  }
  for (Copy& copy : outputs_) settle(copy);
  for (Copy& copy : inputs_) {
    if (copy.device == nullptr || copy.fed) continue;
    if (copy.kept) {
      const uint64_t version = copy.kept->begin(*copy.device, copy.returns);
      if (std::exchange(copy.version, version) != version && !copy.returns) changed_ = true;
    } else {
      copy.device->upload(copy.there, copy.here, copy.bytes);
      changed_ = true;
    }
  }
}

void Session::Staging::take() {
  for (const auto& device : devices_)
    if (device) device->take_fed();
  // Steps of other queues read them too, and wait for steps alone.
  if (plan_.queues.size() > 1)
    for (const auto& device : devices_)
      if (device) device->wait();
}

template <class Visit>
void Session::Staging::each_returning(const Visit& visit) {
  for (const auto* copies : {&inputs_, &outputs_})
    for (const Copy& copy : *copies)
      if (copy.device != nullptr && copy.returns && !copy.kept) visit(copy);
}

bool Session::Staging::leaves() const {
  return plan_.queues.size() == 1 &&
         std::all_of(inputs_.begin(), inputs_.end(),
                     [](const Copy& c) { return !c.returns || c.kept; }) &&
         std::all_of(outputs_.begin(), outputs_.end(), [](const Copy& c) { return !!c.late; });
}

void Session::Staging::download() {
  each_returning([](const Copy& copy) {
    if (copy.landing != nullptr && copy.landing != copy.there)
      copy.device->download(copy.landing, copy.there, copy.bytes);
  });
  if (leaves()) {
    for (const Copy& copy : outputs_) copy.late->set_newer();
  } else {
    for (const auto& device : devices_)
      if (device) device->wait();
    hand_over();
    for (const auto& device : devices_)
      if (device) device->finish();
  }
}

void Session::Staging::hand_over() {
  each_returning([](const Copy& copy) {
    if (copy.landing == nullptr) {
      copy.device->download(copy.here, copy.there, copy.bytes);
    } else if (copy.bytes > 0) {
      std::memcpy(copy.here, copy.landing, copy.bytes);
    }
  });
}

}  // namespace keratin
