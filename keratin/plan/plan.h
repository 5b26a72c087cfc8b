#pragma once

#include <exception>
#include <iosfwd>

#include "keratin/base/thread_pool.h"
#include "keratin/ir/module.h"
#include "keratin/ops/flops.h"
#include "keratin/plan/preparation.h"

namespace keratin {

// Where a value's bytes are.
struct Slot {
  enum class Kind : uint8_t {
    none,      // not used
    arena,     // the arena of queue `index`
    constant,  // constant `index` of the plan
    input,     // the caller's memory for parameter `index`
    output,    // the caller's memory for result `index`
    kept,      // kept value `index` of the plan
  };
  Kind kind = Kind::none;
  size_t index = 0;   // of the queue, constant, input, output or kept value
  size_t offset = 0;  // in the arena, the input or the kept value
  size_t bytes = 0;
  bool operator==(const Slot&) const = default;
};

// Wait until `queue` has finished its first `steps` steps.
struct Wait {
  size_t queue = 0;
  size_t steps = 0;
  bool operator==(const Wait&) const = default;
};

struct PlanStep {
  const Node* node = nullptr;  // nullptr for a copy made by the planner
  std::unique_ptr<Kernel> kernel;
  std::string name = {};              // of the kernel: "cpu: softmax rows"
  std::vector<Refusal> refused = {};  // better kernels, and why they do not run the node
  // Inputs, outputs, scratch; then the result of the preparation, if there is one.
  std::vector<Slot> slots = {};
  Device device;
  std::vector<Wait> waits = {};              // before it starts
  bool signals = false;                      // whether another queue waits for it
  const Preparation* preparation = nullptr;  // the kernel, if the step prepares the node's step
  bool may_fail = false;                     // whether some inputs make it throw

  size_t input_count() const { return node != nullptr ? node->input_count() : 1; }
  size_t output_count() const { return node != nullptr ? node->output_count() : 1; }
};

// The steps of one device, in order, and the size of its arena.
struct Queue {
  Device device;
  std::vector<size_t> steps;
  size_t arena_bytes = 0;
  const Backend* backend = nullptr;  // allocates the arena
};

// Indices that the caller passes to a step of a device that cannot throw. They are checked before
// anything runs.
struct IndexInput {
  size_t step = 0;
  size_t input = 0;
  int64_t first = 0, count = 0;  // elements of the input
  int64_t size = 0;              // of the axis that they index
};

struct PlanOptions : KernelOptions {
  // The backends of a device, best first; the first that has a kernel for a node runs it.
  std::vector<const Backend*> backends;
  // The backends of GPUs; none if all GPUs are virtual devices of the CPU.
  std::vector<const Backend*> gpu_backends = {};
  // Whether each queue runs in a thread of its own; if not, all run in the caller's thread.
  bool concurrent_queues = true;
  // Shares the work of steps; nullptr: the pool of the process.
  std::shared_ptr<ThreadPool> pool = nullptr;
  // Keep stable values between runs on the host. Sessions then need all state as tensors, and who
  // writes to these must say so, see StateVersion. Devices with memory of their own always do.
  bool keeps_values = false;

  const std::vector<const Backend*>& of(Device device) const {
    return has_own_memory(device) ? gpu_backends : backends;
  }
  // Whether a device has memory that the host does not share.
  bool has_own_memory(Device device) const {
    return device.kind == Device::Kind::gpu && !gpu_backends.empty();
  }
};

// Data that is part of a plan, and its copy on the device that reads it, if that device has its own
// memory.
struct PlanConstant {
  Tensor value;
  std::shared_ptr<void> device_copy = nullptr;
  void* address() const { return device_copy ? device_copy.get() : value.raw(); }
};

// A value that a plan on the host keeps between runs: what a stable step computes or prepares.
struct KeptValue {
  size_t bytes = 0;
  size_t step = 0, position = 0;  // where it is computed: the slot of a step
  bool is_read = false;           // by steps of every run, not only by other stable steps
};
class KeptValues;  // see kept_values.h

// The order of the steps, and the slot of every value: one arena per device, with offsets that
// follow from lifetimes. A plan owns its module, whose nodes the kernels refer to. The steps may
// run one after the other in the order of `steps`; queues that run concurrently keep to the waits.
// State is written only when no step that may fail is left, so a run that fails changes no state.
// This does not cover indices that a device with its own memory computes: it reports their errors
// later.
struct Plan {
  Module module;
  std::vector<PlanStep> steps;
  std::vector<Queue> queues;
  std::vector<PlanConstant> constants;
  std::vector<IndexInput> index_inputs;
  size_t arena_bytes = 0;  // of all queues
  // The leading steps that give stable values: a session skips them while no state that the plan
  // only reads has changed since its last run. 0 unless one device runs all steps and can keep the
  // values: a GPU in the arena of each session, the host in `kept_values`, for all sessions.
  size_t stable_steps = 0;
  bool keeps_values = false;  // on the host
  std::vector<KeptValue> kept = {};
  std::shared_ptr<KeptValues> kept_values = nullptr;
  bool concurrent_queues = true;
  std::shared_ptr<ThreadPool> pool = nullptr;

  const Values& results() const { return module.block().results; }
};

// All sizes must be known and every node must have a kernel in one of the backends.
Plan make_plan(Module module, const PlanOptions& options);

// The memory of the plan itself, roughly: constants, nodes, kernels and their code. Arenas belong
// to sessions, and kept values to all plans that share them.
size_t memory_bytes(const Plan& plan);

// The arithmetic of one run; see ops/flops.h.
double flops(const Plan& plan);
double flops(const PlanStep& step);

// "step 3, matmul 4x5, of layer 'dense'": for messages.
std::string name_of(const Plan& plan, const PlanStep& step);
// The error of a step, with the device and the step in front.
[[noreturn]] void rethrow(const Plan& plan, const PlanStep& step, std::exception_ptr error);

// One line per device: its steps, its memory, its transfers from others. Then one line per step:
// device, kernel, slots, layer, and the steps that it waits for.
std::ostream& operator<<(std::ostream& out, const Plan& plan);

}  // namespace keratin
