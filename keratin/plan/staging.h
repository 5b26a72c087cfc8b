#pragma once

#include "keratin/plan/device_copy.h"
#include "keratin/plan/session.h"

namespace keratin {

// The queues of a plan on devices with memory of their own, and copies of the inputs and outputs
// there. Callers pass addresses of the host; bytes are copied before and after the steps.
struct Session::Staging {
 public:
  // nullptr when all memory of the plan is the host's.
  static std::unique_ptr<Staging> make(const Plan& plan);
  ~Staging();

  // nullptr for a queue on the host.
  DeviceQueue* device(size_t queue) const { return devices_[queue].get(); }
  DeviceQueue* device_of(Device device) const;

  // Take the caller's address, and return the address that steps use: on the device, or the same.
  void* set_input(size_t index, void* address);
  void* set_output(size_t index, void* address);
  // The same for state that stays resident on its device; nullptr if it cannot.
  void* set_resident_input(size_t index, const Tensor& state);
  // The same for a result that is copied to the host only when it is read.
  void* set_deferred_output(size_t index, const Tensor& result);

  // Before the steps: starts copying inputs. `run` makes the steps wait for them; callers that run
  // steps in another way call `receive` first.
  void upload();
  void receive();
  // Runs the steps of a plan with one queue; stable steps only if state has changed. From the third
  // run on the others are replayed.
  void run(std::span<const Launch> steps);
  // After the steps: starts copying results, and waits for them unless all are deferred.
  void download();

 private:
  // An input or an output.
  struct Copy {
    DeviceQueue* device = nullptr;
    std::byte* on_device = nullptr;
    void* on_host = nullptr;  // the caller's
    size_t bytes = 0;
    bool is_written = false;                             // by the program
    bool in_block = false;                               // `on_device` is in an InputBlock
    std::byte* staged = nullptr;                         // of the host; nullptr for large ones
    std::shared_ptr<DeviceCopy> resident = nullptr;      // replaces `on_device`
    uint64_t version = 0;                                // of the resident copy, at the last run
    std::shared_ptr<DeferredResult> deferred = nullptr;  // replaces `on_host`
    std::shared_ptr<DeferredResult> previous = nullptr;  // of the last run, in the same memory
  };
  // All inputs of one device that are no state, in one block that is copied before each run.
  struct InputBlock {
    std::byte* on_device = nullptr;
    std::byte* on_host = nullptr;
    size_t bytes = 0;
    std::vector<std::pair<size_t, size_t>> inputs = {};  // (index, offset)
  };
  enum class Recorded { not_yet, ran_once, yes, never };

  explicit Staging(const Plan& plan);
  void describe_inputs();
  void describe_outputs();
  void make_blocks();
  void send_block(size_t queue);
  void check_indices() const;
  void release_resident(Copy& copy);
  void finish_previous(Copy& copy);
  bool all_deferred() const;
  void copy_to_caller();
  // To be called when addresses change that recorded steps use.
  void forget_record() {
    if (recorded_ == Recorded::yes) recorded_ = Recorded::ran_once;
  }
  template <class Visit>
  void each_written(const Visit& visit);

  const Plan& plan_;
  std::vector<std::unique_ptr<DeviceQueue>> devices_;  // one per queue
  std::vector<Copy> inputs_, outputs_;
  std::vector<InputBlock> blocks_;  // one per queue
  Recorded recorded_ = Recorded::not_yet;
  bool state_changed_ = true;  // since the stable steps ran
};

}  // namespace keratin
