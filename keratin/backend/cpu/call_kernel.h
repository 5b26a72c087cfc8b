#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "keratin/plan/backend.h"

namespace keratin::cpu {

struct CallTraits {
  size_t scratch_bytes = 0;
  bool in_place = false;  // the first output may be written over the first input
};

// A kernel that is one call: run(pointers), with all that does not change held by value in `run`.
template <class F>
class CallKernel final : public Kernel {
 public:
  CallKernel(std::string what, F run, CallTraits traits)
      : what_(std::move(what)), run_(std::move(run)), traits_(traits) {}

  std::string describe() const override { return what_; }
  size_t scratch_bytes() const override { return traits_.scratch_bytes; }
  bool in_place(size_t input, size_t output) const override {
    return traits_.in_place && input == 0 && output == 0;
  }
  Launch bind(Pointers p) const override {
    return [this, p] { run_(p); };
  }

 private:
  std::string what_;
  F run_;
  CallTraits traits_;
};

// Does anybody use an output? Looks through the block, so it is for the few kernels that must know.
bool is_used(const Node& node, size_t output);

template <class F>
Offer offer_call(std::string what, F run, CallTraits traits = {}) {
  return {.kernel = std::make_unique<CallKernel<F>>(std::move(what), std::move(run), traits)};
}

}  // namespace keratin::cpu
