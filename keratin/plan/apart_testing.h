#pragma once

#include <gtest/gtest.h>

#include "keratin/backend/reference/reference.h"
#include "keratin/ops/registry.h"
#include "keratin/plan/device_queue.h"
#include "keratin/plan/plan.h"

namespace keratin {

// A device whose memory only looks like the host's: what crosses over is counted.
struct Traffic {
  int fed = 0, fed_at_last_wait = 0, up = 0, down = 0, recorded = 0, replayed = 0, waits = 0;
  std::string complaint = {};  // of a kernel
  bool late = false;           // does what is fed arrive when it is waited for?
};

class ApartQueue final : public DeviceQueue {
 public:
  explicit ApartQueue(Traffic& traffic) : traffic_(traffic) {}
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
  void feed(void* to, const void* from, size_t bytes, const WaitForBytes& wait) override {
    fed_to_ = to;
    fed_.clear();
    while (fed_.size() < bytes)
      fed_.insert(fed_.end(), static_cast<const std::byte*>(from) + fed_.size(),
                  static_cast<const std::byte*>(from) + wait(fed_.size()));
    ++traffic_.fed;
  }
  void wait_fed() override {}
  void take_fed() override {
    if (!traffic_.late) arrive();
  }
  void wait() override {
    ++traffic_.waits;
    traffic_.fed_at_last_wait = traffic_.fed;
    arrive();
  }
  void complain() override {
    if (traffic_.complaint.empty()) return;
    throw UserError(std::exchange(traffic_.complaint, ""));
  }
  bool record(std::span<const Launch> steps, const Dependencies& after) override {
    EXPECT_EQ(steps.size(), after.size());
    steps_ = steps;
    ++traffic_.recorded;
    return true;
  }
  void replay() override {
    take_fed();
    for (const Launch& step : steps_) step();
    ++traffic_.replayed;
  }

 private:
  void arrive() {
    if (!fed_.empty()) std::memcpy(fed_to_, fed_.data(), fed_.size());
  }

  Traffic& traffic_;
  std::vector<Buffer> memory_;
  std::span<const Launch> steps_;
  void* fed_to_ = nullptr;
  std::vector<std::byte> fed_;
};

class ApartBackend : public Backend {
 public:
  std::string_view name() const override { return "apart"; }
  bool claims(const Node& node) const override { return reference_backend().claims(node); }
  Choice make(const Node& node, const KernelOptions& options) const override {
    return reference_backend().make(node, options);
  }
  std::unique_ptr<DeviceQueue> open(Device) const override {
    return std::make_unique<ApartQueue>(traffic);
  }
  std::shared_ptr<void> keep(Device, const Tensor& tensor) const override {
    const auto copy = std::make_shared<Tensor>(tensor.clone());
    return {copy, copy->raw()};
  }
  mutable Traffic traffic;
};

// A program that runs there.
inline Plan plan_apart(const Backend& backend, std::string_view program) {
  Module m = ops::parse(program);
  for (const auto& parameter : m.block().parameters()) parameter->place({Device::Kind::gpu, 0});
  for (const auto& node : m.block().nodes()) node->place({Device::Kind::gpu, 0});
  PlanOptions options;
  options.backends = {&reference_backend()};
  options.gpu_backends = {&backend};
  return make_plan(std::move(m), options);
}

}  // namespace keratin
