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

struct Plan;

// The results of a run that may still be at work on a device.
class KERATIN_API PendingResults {
 public:
  explicit PendingResults(std::vector<Tensor> results) : results_(std::move(results)) {}
  // Waits until they are there.
  const std::vector<Tensor>& get() const;

 private:
  std::vector<Tensor> results_;
};

// A compiled program. Immutable: any number of threads may call it at once, each call borrows a
// session of its own.
class KERATIN_API Executable {
 public:
  // Fast arithmetic takes denormal numbers for zero while it runs. State stays where a GPU updates
  // it, and results come by `Tensor::wait`; or both are there after each run.
  explicit Executable(Plan plan, bool flush_denormals = false, bool state_stays = false);

  const Plan& plan() const;  // see plan/plan.h

  // What it costs: steps, bytes of working memory per session, floating-point operations per run.
  size_t steps() const;
  size_t arena_bytes() const;
  // The memory it holds between calls, roughly: its steps, constants, and an arena for each
  // session.
  size_t memory_bytes() const;
  // Gives back the arenas of sessions that no call uses now; the next call makes its own again.
  void release_memory() const;
  double flops() const;
  // One line per step: which kernel runs what where.
  std::string describe() const;

  // One tensor per parameter, state included, which is updated in place; returns the results.
  std::vector<Tensor> operator()(std::span<const Tensor> inputs) const;
  std::vector<Tensor> operator()(std::initializer_list<Tensor> inputs) const {
    return (*this)(std::span(inputs.begin(), inputs.size()));
  }
  // The same without waiting for a device that works by itself.
  PendingResults start(std::span<const Tensor> inputs) const;
  // The same into tensors that exist: nothing is allocated once as many sessions exist as threads
  // call at the same time.
  void run(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const;

  // What each step does, what it costs, and why no better kernel runs it.
  struct StepInfo {
    std::string kernel;            // its name, after that of its backend: "cpu: softmax rows"
    std::string description;       // how it was configured: "matmul + relu, tiles 14x32"
    std::string layer;             // whose call it is part of; "" where none is known
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

  // Where the time goes: runs like `run`, `runs` times, and says what each step took.
  struct StepTime {
    std::string step;  // its kernel
    double ms = 0;     // per run, on average
    double flops = 0;
  };
  std::vector<StepTime> profile(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                                int runs = 10) const;

 private:
  struct Shared;
  template <class Work>
  void with_session(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                    const Work& work) const;
  std::vector<Tensor> launch(std::span<const Tensor> inputs) const;
  std::shared_ptr<const Shared> shared_;
};

}  // namespace keratin
