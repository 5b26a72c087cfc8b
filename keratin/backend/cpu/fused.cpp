#include "keratin/backend/cpu/jit/loop_kernel.h"
#include "keratin/backend/cpu/jit/lower.h"
#include "keratin/base/text.h"
#include "keratin/ops/records.h"
#include "keratin/plan/kernel.h"

// Pointwise ops, reductions and fused regions of them as one generated loop.

namespace keratin::cpu {

namespace {

class LoopStep final : public Kernel {
 public:
  LoopStep(LoopProgram program, int threads)
      : program_(program), kernel_(LoopKernel::compile(std::move(program), {.threads = threads})) {}

  std::string describe() const override {
    std::string steps;
    int shown = 0;
    for (const LoopInst& inst : program_.body) {
      if (inst.op == ScalarOp::constant) continue;
      if (++shown > 6) {
        steps += " ...";
        break;
      }
      steps += text(' ', name(inst.op));
    }
    for (const LoopOutput& out : program_.outputs)
      if (out.reduce != Reduce::none) steps += text(' ', name(out.reduce));
    return text(name(kernel_.isa()), " loop", steps);
  }

  size_t scratch_bytes() const override { return kernel_.scratch_bytes(); }

  // True if input and output have the same layout: each element is then read before it is written.
  bool in_place(size_t input, size_t output) const override {
    const LoopInput& in = program_.inputs[input];
    const LoopOutput& out = program_.outputs[output];
    if (out.reduce != Reduce::none || in.dtype != out.dtype) return false;
    for (int d = 0; d < program_.rank; ++d)
      if (program_.dims[size_t(d)] != 1 && in.strides[size_t(d)] == 0) return false;
    return true;
  }

  Launch bind(Pointers pointers) const override {
    const size_t inputs = program_.inputs.size(), outputs = program_.outputs.size();
    return [kernel = kernel_, pointers, inputs, outputs] {
      kernel.run(pointers, pointers + inputs, pointers[inputs + outputs]);
    };
  }

 private:
  LoopProgram program_;
  LoopKernel kernel_;
};

Offer make_loop(const Node& node, const KernelOptions& options) {
  std::string reason;
  std::optional<LoopProgram> program = lower_to_loop(node, reason);
  if (!program) return refuse(reason);
  return {.kernel = std::make_unique<LoopStep>(std::move(*program), options.threads)};
}

std::optional<std::string> refuses_region(const Node& node) {
  if (&node.op() != &ops::fused_op) return std::nullopt;
  std::string reason;
  if (lower_to_loop(node, reason)) return std::nullopt;
  return reason;
}

std::optional<std::string> refuses_op(const Node& node) {
  if (node.op().scalar) return std::nullopt;
  return "the op is not pointwise";
}

}  // namespace

extern constinit const KernelDef fused_loop_kernel{
    .name = "fused loop",
    .ops = {&ops::fused_op, &ops::sum_op, &ops::prod_op, &ops::max_op, &ops::min_op, &ops::any_op,
            &ops::all_op, &ops::broadcast_to_op},
    .refuses = refuses_region,
    .make = make_loop,
};
extern constinit const KernelDef pointwise_loop_kernel{
    .name = "pointwise loop",
    .refuses = refuses_op,
    .make = make_loop,
};

}  // namespace keratin::cpu
