#pragma once

#include <span>

#include "keratin/plan/plan.h"

namespace keratin {

// A plan bound to memory, for one run at a time. Many sessions may share a plan.
class Session {
 public:
  explicit Session(const Plan& plan);
  // Without memory of its own: `set_arena` comes before the first launch. For plans that run on one
  // device in the host's memory and keep no values between runs, such as plans inside a plan.
  struct BorrowedArena {};
  Session(const Plan& plan, BorrowedArena);
  static bool may_borrow_arena(const Plan& plan);
  // Memory for the arena of a queue. An error says what the memory is for.
  static Buffer allocate_arena(const Plan& plan, size_t queue);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // One address per parameter and per result. State parameters are updated in place.
  void run(std::span<void* const> inputs, std::span<void* const> outputs);

  // For a plan inside a plan: the addresses that `run` would set, one by one.
  void set_input(size_t index, void* address) {
    if (staging_) return stage_input(index, address);
    assign(input_uses_[index], address);
  }
  void set_output(size_t index, void* address) {
    if (staging_) return stage_output(index, address);
    assign(output_uses_[index], address);
  }
  // State that may stay resident on its device between runs, see DeviceCopy; and a result that may
  // be copied to the host only when it is read, see DeferredResult. If all results are deferred, a
  // launch does not wait for the device.
  void set_state(size_t index, const Tensor& state);
  void set_result(size_t index, const Tensor& result);
  void set_arena(std::byte* arena) {
    if (arena != arena_) set_arena(0, arena);
    arena_ = arena;
  }
  void launch() const {
    if (staging_) return launch_staged();
    if (!kept_uses_.empty()) return launch_with_kept();
    launch_steps();
  }
  // As `launch`; adds the seconds of each step to its entry.
  void launch_timed(std::span<double> seconds) const;

 private:
  struct Queues;   // threads for all queues but the first
  struct Staging;  // copies of inputs and outputs on devices with memory of their own
  void bind_steps();
  void launch_steps() const {
    if (plan_.queues.size() > 1) return launch_queues();
    for (const Launch& step : launches_)
      if (step) step();
  }
  void launch_queues() const;
  void launch_with_kept() const;
  std::shared_ptr<const void> use_kept_values() const;
  void launch_staged() const;
  void launch_alone(size_t step) const;
  void stage_input(size_t index, void* address);
  void stage_output(size_t index, void* address);
  void set_arena(size_t queue, std::byte* arena);
  // An entry of pointers_, and its offset from the caller's address.
  struct Use {
    size_t position, offset;
  };
  void assign(const std::vector<Use>& uses, void* address) {
    for (const Use& use : uses)
      pointers_[use.position] = static_cast<std::byte*>(address) + use.offset;
  }

  const Plan& plan_;
  std::vector<Buffer> arenas_;           // one per queue
  std::byte* arena_ = nullptr;           // that is borrowed
  mutable std::vector<void*> pointers_;  // of all steps, concatenated
  std::vector<std::vector<Use>> input_uses_, output_uses_, kept_uses_;
  std::vector<Tensor> states_;     // by parameter, if values are kept that follow from them
  mutable uint64_t kept_set_ = 0;  // whose addresses are in pointers_
  std::vector<Launch> launches_;
  std::unique_ptr<Staging> staging_;  // nullptr if all memory is the host's
  std::unique_ptr<Queues> queues_;    // nullptr unless queues run concurrently
};

}  // namespace keratin
