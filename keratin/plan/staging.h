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
  ~Staging();

  // nullptr for a queue on the host.
  DeviceQueue* device(size_t queue) const { return devices_[queue].get(); }
  DeviceQueue* device_of(Device device) const;

  // The caller's address; returns where steps find it, on its device or right there.
  void* take_input(size_t index, void* address);
  void* take_output(size_t index, void* address);
  // Where steps find state that stays on its device; nullptr when it cannot.
  void* keep_input(size_t index, const Tensor& state);
  // The same of a result that comes when it is asked for.
  void* keep_output(size_t index, const Tensor& result);

  // Before the steps: sends inputs on their way. `run` takes them; other ways to run the steps
  // begin with `take`.
  void upload();
  void take();
  // Runs the steps of a plan with one queue, those of Plan::once if it must. From the third run on
  // the others are replayed.
  void run(std::span<const Launch> steps);
  // After the steps: sends results on their way, and brings them unless they wait to be asked for.
  void download();

 private:
  struct Copy {
    DeviceQueue* device = nullptr;
    std::byte* there = nullptr;
    void* here = nullptr;
    size_t bytes = 0;
    bool returns = false;
    bool fed = false;                              // `there` is in a feed
    std::byte* landing = nullptr;                  // of the host; nullptr for large ones
    std::shared_ptr<DeviceCopy> kept = nullptr;    // instead of `there`
    uint64_t version = 0;                          // of what is kept, at the last run
    std::shared_ptr<DeviceResult> late = nullptr;  // instead of `here`
    std::shared_ptr<DeviceResult> last = nullptr;  // of the run before, in the same landing
  };
  // What is no state, of one device, in one block: it comes from the host before each run.
  struct Feed {
    std::byte* there = nullptr;
    std::byte* here = nullptr;
    size_t bytes = 0;
    std::vector<std::pair<size_t, size_t>> inputs = {};  // and where each begins
  };
  enum class Recorded { not_yet, once_run, yes, never };

  explicit Staging(const Plan& plan);
  void describe_inputs();
  void describe_outputs();
  void make_feeds();
  void feed(size_t queue);
  void check_indices() const;
  void let_go(Copy& copy);
  void settle(Copy& copy);
  // Do all results wait to be asked for?
  bool leaves() const;
  void hand_over();
  // Steps that were recorded used other addresses.
  void forget_record() {
    if (recorded_ == Recorded::yes) recorded_ = Recorded::once_run;
  }
  template <class Visit>
  void each_returning(const Visit& visit);

  const Plan& plan_;
  std::vector<std::unique_ptr<DeviceQueue>> devices_;  // one per queue
  std::vector<Copy> inputs_, outputs_;
  std::vector<Feed> feeds_;  // one per queue
  Recorded recorded_ = Recorded::not_yet;
  bool changed_ = true;  // has state, since the steps of Plan::once ran?
};

}  // namespace keratin
