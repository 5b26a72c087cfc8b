#pragma once

#include <gtest/gtest.h>

#include "keratin/backend/reference/reference.h"
#include "keratin/ops/registry.h"
#include "keratin/plan/device_queue.h"
#include "keratin/plan/session.h"

namespace keratin {

// What happened on a FakeGpuQueue.
struct Traffic {
  int sent = 0, sent_at_last_wait = 0, up = 0, down = 0, recorded = 0, replayed = 0, waits = 0;
  std::string error = {};   // of a kernel
  bool sends_late = false;  // staged inputs arrive only when the queue is waited for
};

// A device with memory of its own, which is in fact the host's. Copies are counted.
class FakeGpuQueue final : public DeviceQueue {
 public:
  explicit FakeGpuQueue(Traffic& traffic) : traffic_(traffic) {}
  std::byte* allocate(size_t bytes) override {
    memory_.push_back(Buffer::zeros(bytes));
    return memory_.back().data();
  }
  std::byte* allocate_host(size_t bytes) override { return allocate(bytes); }
  void enter() override {}
  void upload(void* to, const void* from, size_t bytes) override {
    std::memcpy(to, from, bytes);
    ++traffic_.up;
  }
  void download(void* to, const void* from, size_t bytes) override {
    std::memcpy(to, from, bytes);
    ++traffic_.down;
  }
  void send_staged(void* to, const void* from, size_t bytes, const WaitForBytes& wait) override {
    staged_to_ = to;
    staged_.clear();
    while (staged_.size() < bytes)
      staged_.insert(staged_.end(), static_cast<const std::byte*>(from) + staged_.size(),
                     static_cast<const std::byte*>(from) + wait(staged_.size()));
    ++traffic_.sent;
  }
  void wait_sent() override {}
  void receive_staged() override {
    if (!traffic_.sends_late) arrive();
  }
  void wait() override {
    ++traffic_.waits;
    traffic_.sent_at_last_wait = traffic_.sent;
    arrive();
  }
  void throw_errors() override {
    if (traffic_.error.empty()) return;
    throw UserError(std::exchange(traffic_.error, ""));
  }
  bool record(std::span<const Launch> steps, const Dependencies& after) override {
    EXPECT_EQ(steps.size(), after.size());
    steps_ = steps;
    ++traffic_.recorded;
    return true;
  }
  void replay() override {
    receive_staged();
    for (const Launch& step : steps_) step();
    ++traffic_.replayed;
  }

 private:
  void arrive() {
    if (!staged_.empty()) std::memcpy(staged_to_, staged_.data(), staged_.size());
  }

  Traffic& traffic_;
  std::vector<Buffer> memory_;
  std::span<const Launch> steps_;
  void* staged_to_ = nullptr;
  std::vector<std::byte> staged_;
};

class FakeGpuBackend : public Backend {
 public:
  std::string_view name() const override { return "fake gpu"; }
  bool claims(const Node& node) const override { return reference_backend().claims(node); }
  Choice make(const Node& node, const KernelOptions& options) const override {
    return reference_backend().make(node, options);
  }
  std::unique_ptr<DeviceQueue> open(Device) const override {
    return std::make_unique<FakeGpuQueue>(traffic);
  }
  std::shared_ptr<void> keep(Device, const Tensor& tensor) const override {
    const auto copy = std::make_shared<Tensor>(tensor.clone());
    return {copy, copy->raw()};
  }
  mutable Traffic traffic;
};

// A plan that runs all of a program on such a device.
inline Plan plan_on_fake_gpu(const Backend& backend, std::string_view program) {
  Module m = ops::parse(program);
  for (const auto& parameter : m.block().parameters()) parameter->place({Device::Kind::gpu, 0});
  for (const auto& node : m.block().nodes()) node->place({Device::Kind::gpu, 0});
  PlanOptions options;
  options.backends = {&reference_backend()};
  options.gpu_backends = {&backend};
  return make_plan(std::move(m), options);
}

}  // namespace keratin
