#pragma once

#include <exception>
#include <iosfwd>
#include <span>

#include "keratin/ir/module.h"
#include "keratin/ops/flops.h"
#include "keratin/plan/preparation.h"

namespace keratin {

// Where a value's bytes are.
struct Slot {
  enum class Kind : uint8_t {
    none,      // nobody needs it
    arena,     // at an offset of the arena of queue `index`
    constant,  // in the plan itself
    input,     // the caller's, parameter `index`
    output,    // the caller's, result `index`
  };
  Kind kind = Kind::none;
  size_t index = 0;   // of the queue, constant, input or output
  size_t offset = 0;  // in the arena, or in the input
  size_t bytes = 0;
  bool operator==(const Slot&) const = default;
};

// Another queue that must have come so far.
struct Wait {
  size_t queue = 0;
  size_t steps = 0;  // of that queue, from its first
  bool operator==(const Wait&) const = default;
};

struct PlanStep {
  const Node* node = nullptr;  // nullptr for a copy made by the planner
  std::unique_ptr<Kernel> kernel;
  std::string name = {};              // of the kernel: "cpu: softmax rows"
  std::vector<Refusal> refused = {};  // better kernels, and why they do not run the node
  // Inputs, outputs, scratch; then what was prepared, if anything was.
  std::vector<Slot> slots = {};
  Device device;
  std::vector<Wait> waits = {};              // before it starts
  bool signals = false;                      // does a wait end with it?
  const Preparation* preparation = nullptr;  // the kernel, of one for the node's own step
  bool may_fail = false;                     // can what it is given make it throw?

  size_t input_count() const { return node != nullptr ? node->input_count() : 1; }
  size_t output_count() const { return node != nullptr ? node->output_count() : 1; }
};

// What one device does, in order, and the memory it needs for it.
struct Queue {
  Device device;
  std::vector<size_t> steps;
  size_t arena_bytes = 0;
  const Backend* backend = nullptr;  // whose memory it is
};

// Indices that the caller gives, for a step of a device that cannot throw: they are looked at
// before anything runs.
struct IndexInput {
  size_t step = 0;
  size_t input = 0;
  int64_t first = 0, count = 0;  // elements of the input
  int64_t size = 0;              // of the axis
};

struct PlanOptions : KernelOptions {
  // The backends of a device, best first; the first that offers a kernel runs the node.
  std::vector<const Backend*> backends;
  // The same for GPUs; none where a GPU is a CPU device by another name.
  std::vector<const Backend*> gpu_backends = {};
  // Do queues run at the same time, each in a thread? If not, the caller's thread does all of it.
  bool side_by_side = true;

  const std::vector<const Backend*>& of(Device device) const {
    return device.kind == Device::Kind::gpu && !gpu_backends.empty() ? gpu_backends : backends;
  }
};

// Data that is part of a plan, and its copy on the device that reads it, if that has its own
// memory.
struct PlanConstant {
  Tensor value;
  std::shared_ptr<void> kept = nullptr;
  void* address() const { return kept ? kept.get() : value.raw(); }
};

// The order of the steps, and the place of every value: one arena per device, offsets fixed by
// lifetimes. A plan owns its module, whose nodes the kernels refer to. The order of `steps` is one
// in which all queues may run, one step after the other; queues that run side by side keep to the
// waits. State is written only when no step that may fail is left, so a run that fails changes
// none. Devices with memory of their own say later what was wrong with indices that they computed
// themselves; those are not covered.
struct Plan {
  Module module;
  std::vector<PlanStep> steps;
  std::vector<Queue> queues;
  std::vector<PlanConstant> constants;
  std::vector<IndexInput> index_inputs;
  size_t arena_bytes = 0;  // of all queues
  // So many of the first steps may be left out of a session's run when no state that the plan only
  // reads has changed since the run before. None where there are several queues, or no device.
  size_t once = 0;
  bool side_by_side = true;

  const Values& results() const { return module.block().results; }
};

// All sizes must be known and every node must have a kernel in one of the backends.
Plan make_plan(Module module, const PlanOptions& options);

// The memory of the plan itself, roughly: constants, nodes, kernels and their code. Arenas are its
// sessions'.
size_t memory_bytes(const Plan& plan);

// The arithmetic of one run; see ops/flops.h.
double flops(const Plan& plan);
double flops(const PlanStep& step);

// "step 3, matmul 4x5, of layer 'dense'": for messages.
std::string name_of(const Plan& plan, const PlanStep& step);
// The error of a step, with the device and the step in front.
[[noreturn]] void rethrow(const Plan& plan, const PlanStep& step, std::exception_ptr error);

// One line per device: its steps, its memory, what comes to it from others. Then one line per step:
// where, kernel, slots, whose it is, and what it waits for.
std::ostream& operator<<(std::ostream& out, const Plan& plan);

// A plan's memory and launches for one run at a time. Many sessions may share a plan.
class Session {
 public:
  explicit Session(const Plan& plan);
  // For a plan inside a plan, on one device: `set_arena` comes before the first launch.
  struct BorrowedArena {};
  Session(const Plan& plan, BorrowedArena);
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
  // State that may stay on its device from run to run; see DeviceCopy. A result that may come when
  // it is asked for by `bring_home`; when all do, a launch on a device does not wait for its end.
  void set_state(size_t index, const Tensor& state);
  void set_result(size_t index, const Tensor& result);
  void set_arena(std::byte* arena) { set_arena(0, arena); }
  void launch() const {
    if (staging_) return launch_staged();
    launch_steps();
  }
  // The same, adding to each step's entry the seconds it took.
  void launch_timed(std::span<double> seconds) const;

 private:
  struct Queues;   // one thread for each device but the first
  struct Staging;  // copies of inputs and outputs on devices with their own memory
  void bind_steps();
  void launch_steps() const {
    if (plan_.queues.size() > 1) return launch_queues();
    for (const Launch& step : launches_) step();
  }
  void launch_queues() const;
  void launch_staged() const;
  void launch_alone(size_t step) const;
  void stage_input(size_t index, void* address);
  void stage_output(size_t index, void* address);
  void set_arena(size_t queue, std::byte* arena);
  // A position in pointers_, and how far behind the caller's address it points.
  struct Use {
    size_t position, offset;
  };
  void assign(const std::vector<Use>& uses, void* address) {
    for (const Use& use : uses)
      pointers_[use.position] = static_cast<std::byte*>(address) + use.offset;
  }

  const Plan& plan_;
  std::vector<Buffer> arenas_;   // one per queue
  std::vector<void*> pointers_;  // of all steps, one after the other
  std::vector<std::vector<Use>> input_uses_, output_uses_;
  std::vector<Launch> launches_;
  std::unique_ptr<Staging> staging_;  // of a plan on such a device
  std::unique_ptr<Queues> queues_;    // of a plan with several
};

}  // namespace keratin
