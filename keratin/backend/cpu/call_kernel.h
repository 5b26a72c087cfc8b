#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "keratin/plan/view.h"

namespace keratin::cpu {

struct CallTraits {
  size_t scratch_bytes = 0;
  bool in_place = false;  // the first output may be written over the first input
};

// A kernel that is one call: run(operands) or run(operands, scratch), with views of the node's
// operands by name, and where the address of the scratch memory is found. `run` holds by value all
// that does not change.
template <template <class> class Operands, class Run>
class CallKernel final : public Kernel {
 public:
  CallKernel(const Node& node, std::string what, Run run, CallTraits traits)
      : node_(node), what_(std::move(what)), run_(std::move(run)), traits_(traits) {}

  std::string describe() const override { return what_; }
  size_t scratch_bytes() const override { return traits_.scratch_bytes; }
  bool in_place(size_t input, size_t output) const override {
    return traits_.in_place && input == 0 && output == 0;
  }
  Launch bind(Pointers pointers) const override {
    auto views = operands<Operands>(node_, pointers);
    if constexpr (std::is_invocable_v<const Run&, const Operands<View>&>) {
      return [this, views = std::move(views)] { run_(views); };
    } else {
      const Pointers scratch = scratch_slot(node_, pointers);
      return [this, views = std::move(views), scratch] { run_(views, *scratch); };
    }
  }

 private:
  const Node& node_;
  std::string what_;
  Run run_;
  CallTraits traits_;
};

template <template <class> class Operands, class Run>
Offer offer_call(const Node& node, std::string what, Run run, CallTraits traits = {}) {
  return {.kernel = std::make_unique<CallKernel<Operands, Run>>(node, std::move(what),
                                                                std::move(run), traits)};
}

// True if an output of a node is used. Looks through the block, so it is for the few kernels that
// must know.
bool is_used(Value output);

// A tensor around one of its axes: [outer, axis, inner].
struct AxisSizes {
  int64_t outer, axis, inner;
};
AxisSizes axis_sizes(const Shape& shape, int64_t axis);

}  // namespace keratin::cpu
