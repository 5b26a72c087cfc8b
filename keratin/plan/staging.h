#pragma once

#include "keratin/plan/device_copy.h"
#include "keratin/plan/plan.h"

namespace keratin {

// For a plan with a queue on a device that has its own memory: the queues there, and copies of the
// inputs and outputs that live there. Callers give addresses of the host; the bytes travel before
// and after the steps.
struct Session::Staging {
 public:
  // nullptr when all of the plan's memory is the host's.
  static std::unique_ptr<Staging> make(const Plan& plan);

  // nullptr for a queue on the host.
  DeviceQueue* device(size_t queue) const { return devices_[queue].get(); }
  DeviceQueue* device_of(Device device) const;

  // Where steps find it: an address on its device, or nullptr when the caller's will do.
  void* place_input(size_t index, bool used);
  void* place_output(size_t index);
  // The caller's address; false when steps shall use it themselves.
  bool take_input(size_t index, void* address) { return take(inputs_[index], address); }
  bool take_output(size_t index, void* address) { return take(outputs_[index], address); }

  // Where steps find state that stays on its device; nullptr when it cannot.
  void* keep_input(size_t index, const Tensor& state);

  // Runs the steps of a plan with one queue. From the third run on they are replayed.
  void run(const std::function<void()>& steps);

  void upload();
  void download();  // and waits for all queues

 private:
  struct Copy {
    DeviceQueue* device = nullptr;
    void* there = nullptr;
    void* here = nullptr;
    size_t bytes = 0;
    bool returns = false;
    std::shared_ptr<DeviceCopy> kept = nullptr;  // instead of `there`
  };
  enum class Recorded { not_yet, once_run, yes, never };

  explicit Staging(const Plan& plan);
  Copy make_copy(const Type& type, bool returns) const;
  static bool take(Copy& copy, void* address) {
    copy.here = address;
    return copy.device != nullptr;
  }

  const Plan& plan_;
  std::vector<std::unique_ptr<DeviceQueue>> devices_;  // one per queue
  std::vector<Copy> inputs_, outputs_;
  Recorded recorded_ = Recorded::not_yet;
};

}  // namespace keratin
