#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/tensor/device.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

class ArenaPool;
struct Plan;

// The results of a run, which a device may still be computing.
class KERATIN_API PendingResults {
 public:
  explicit PendingResults(std::vector<Tensor> results) : results_(std::move(results)) {}
  // Waits until they are computed.
  const std::vector<Tensor>& get() const;

 private:
  std::vector<Tensor> results_;
};

// A compiled program. Immutable: any number of threads may call it at the same time; each call uses
// a session of its own.
class KERATIN_API Executable {
 public:
  // `flush_denormals` treats denormal numbers as zero while the program runs. `state_stays` leaves
  // state on the GPU that updates it, and results to `Tensor::wait`; if not, both are on the host
  // after each run. Programs that are given the same `arenas` share their working memory.
  explicit Executable(Plan plan, bool flush_denormals = false, bool state_stays = false,
                      std::shared_ptr<ArenaPool> arenas = nullptr);

  const Plan& plan() const;  // see plan/plan.h

  // Its costs: steps, bytes of working memory per session, floating-point operations per run.
  size_t steps() const;
  size_t arena_bytes() const;
  // The memory it holds between calls, roughly: its steps, constants, and idle arenas that it does
  // not share.
  size_t memory_bytes() const;
  // Frees idle sessions, and their arenas. Later calls allocate them again.
  void release_memory() const;
  double flops() const;
  // One line per step: its device, kernel and operands.
  std::string describe() const;

  // One tensor per parameter, state included, which is updated in place; returns the results.
  std::vector<Tensor> operator()(std::span<const Tensor> inputs) const;
  std::vector<Tensor> operator()(std::initializer_list<Tensor> inputs) const {
    return (*this)(std::span(inputs.begin(), inputs.size()));
  }
  // The same without waiting for a GPU.
  PendingResults start(std::span<const Tensor> inputs) const;
  // The same into existing tensors. Allocates nothing once there are as many sessions as threads
  // that call at the same time.
  void run(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const;

  // What each step does, what it costs, and why no better kernel runs it.
  struct StepInfo {
    std::string kernel;            // its name, after that of its backend: "cpu: softmax rows"
    std::string description;       // how it was configured: "matmul + relu, tiles 14x32"
    std::string layer;             // whose call it is part of; "" if not known
    std::vector<std::string> ops;  // what it computes; several where ops were fused
    Device device;
    size_t output_bytes = 0;
    size_t scratch_bytes = 0;
    double bytes = 0;  // read and written, scratch memory left out
    double flops = 0;
    bool stable = false;  // skipped while the state that the program only reads stays the same
    struct Refusal {
      std::string kernel, reason;
    };
    std::vector<Refusal> refused;  // better kernels, best first
  };
  std::vector<StepInfo> explain() const;

  // Runs `runs` times, and measures each step.
  struct StepTime {
    std::string step;  // its kernel
    double ms = 0;     // per run, on average
    double flops = 0;
  };
  std::vector<StepTime> profile(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                                int runs = 10) const;

 private:
  struct Shared;
  class Borrowed;
  template <class Work>
  void with_session(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                    const Work& work) const;
  std::vector<Tensor> launch(std::span<const Tensor> inputs) const;
  std::shared_ptr<const Shared> shared_;
};

}  // namespace keratin
