#include "keratin/backend/cpu/epilogue.h"

#include <algorithm>
#include <array>

#include "keratin/backend/cpu/conv.h"
#include "keratin/backend/cpu/epilogue_loop.h"
#include "keratin/backend/cpu/matmul.h"
#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"

namespace keratin::cpu {
namespace {

// What both kinds of product share: where their arrays are, and the loop over each block.
class EpilogueKernel : public Kernel {
 public:
  EpilogueKernel(const Epilogue& epilogue, const Node& fused)
      : epilogue_(epilogue), result_(fused.input_count()) {
    if (epilogue.loop) loop_.emplace(*epilogue.loop);
  }

  // The loop reads an element before it writes it, but only the tiles know of other arrays.
  bool in_place(size_t input, size_t) const override {
    const bool by_tiles = input == epilogue_.addend || input == epilogue_.gate;
    return by_tiles && takes_addend_in_place() && !read_by_loop(input);
  }

 protected:
  virtual bool takes_addend_in_place() const = 0;

  bool read_by_loop(size_t input) const {
    const auto& inputs = epilogue_.loop_inputs;
    return std::find(inputs.begin(), inputs.end(), input) != inputs.end();
  }
  const void* first(Pointers p) const { return p[epilogue_.first]; }
  const void* second(Pointers p) const { return p[epilogue_.second]; }
  void* result(Pointers p) const { return p[result_]; }
  void* scratch(Pointers p) const { return p[result_ + 1]; }
  const void* bias(Pointers p) const { return epilogue_.bias ? p[*epilogue_.bias] : nullptr; }
  const void* addend(Pointers p) const { return epilogue_.addend ? p[*epilogue_.addend] : nullptr; }
  const void* gate(Pointers p) const { return epilogue_.gate ? p[*epilogue_.gate] : nullptr; }

  // The loop tied to the arrays of one run.
  struct Blocks {
    const EpilogueKernel* kernel;
    std::array<char*, max_loop_pointers> arrays;

    Blocks(const EpilogueKernel& k, Pointers p) : kernel(&k) {
      const auto& inputs = k.epilogue_.loop_inputs;
      arrays[0] = arrays[inputs.size() + 1] = static_cast<char*>(k.result(p));
      for (size_t i = 0; i < inputs.size(); ++i) arrays[i + 1] = static_cast<char*>(p[inputs[i]]);
    }
    BlockHook hook() const {
      return {[](const void* self, int64_t row, int64_t rows, int64_t column, int64_t columns) {
                const auto& blocks = *static_cast<const Blocks*>(self);
                blocks.kernel->loop_->run(blocks.arrays.data(), row, rows, column, columns);
              },
              this,
              [](const void* self, int64_t row, int64_t rows, int64_t column, int64_t columns) {
                const auto& blocks = *static_cast<const Blocks*>(self);
                blocks.kernel->loop_->fetch(blocks.arrays.data(), row, rows, column, columns);
              }};
    }
  };

  std::string suffix() const {
    if (epilogue_.post.empty() && !loop_) return " ";
    return loop_ ? " + epilogue and loop " : " + epilogue ";
  }

 private:
  Epilogue epilogue_;
  size_t result_;
  std::optional<EpilogueLoop> loop_;
};

class MatmulEpilogue final : public EpilogueKernel {
 public:
  MatmulEpilogue(const GemmDesc& desc, int threads, const Epilogue& epilogue, const Node& fused,
                 const Tensor* constant_b)
      : EpilogueKernel(epilogue, fused), gemm_(desc, threads) {
    if (constant_b == nullptr) return;
    packed_ = Buffer::allocate(gemm_.packed_bytes());
    gemm_.pack(constant_b->raw(), packed_.data());
  }

  std::string describe() const override { return text("matmul", suffix(), gemm_.describe()); }
  size_t scratch_bytes() const override { return gemm_.scratch_bytes(); }
  Launch bind(Pointers p) const override {
    return [this, p] {
      const Blocks blocks(*this, p);
      gemm_.run({.a = first(p),
                 .b = packed_.data() != nullptr ? packed_.data() : second(p),
                 .c = result(p),
                 .bias = bias(p),
                 .addend = addend(p),
                 .gate = gate(p),
                 .scratch = scratch(p),
                 .hook = blocks.hook()});
    };
  }

 private:
  bool takes_addend_in_place() const override { return gemm_.takes_addend_in_place(); }

  Gemm gemm_;
  Buffer packed_;  // B, when it is a constant
};

class ConvEpilogue final : public EpilogueKernel {
 public:
  ConvEpilogue(const ConvDesc& desc, const ConvOptions& options, const Epilogue& epilogue,
               const Node& fused)
      : EpilogueKernel(epilogue, fused), conv_(make_conv(desc, ConvDirection::forward, options)) {}

  std::string describe() const override { return text("conv", suffix(), conv_->describe()); }
  size_t scratch_bytes() const override { return conv_->scratch_bytes(); }
  Launch bind(Pointers p) const override {
    return [this, p] {
      const Blocks blocks(*this, p);
      conv_->run({.x = first(p),
                  .filter = second(p),
                  .result = result(p),
                  .bias = bias(p),
                  .addend = addend(p),
                  .scratch = scratch(p),
                  .hook = blocks.hook()});
    };
  }

 private:
  bool takes_addend_in_place() const override { return conv_->takes_addend_in_place(); }

  std::unique_ptr<Conv> conv_;
};

Offer offer_conv(const Epilogue& epilogue, const Node& fused, const KernelOptions& options) {
  ConvDesc desc = describe_conv(*epilogue.product);
  desc.post = epilogue.post;
  desc.hook = epilogue.loop.has_value();
  if (const std::string reason = refuse_conv(desc); !reason.empty()) return refuse(reason);
  const ConvOptions conv{.threads = useful_threads(desc.flops(), options.threads),
                         .deterministic = options.deterministic};
  return {.kernel = std::make_unique<ConvEpilogue>(desc, conv, epilogue, fused)};
}

// The steps of an operand in the array that it is a transpose of.
Dims steps_of(Value operand) {
  const Node& node = operand.node();
  if (&node.op() != &ops::transpose_op) return operand.shape().strides();
  const Dims steps = node.in().shape().strides();
  Dims moved;
  for (const int64_t axis : node.attr<ops::TransposeAttrs>().permutation)
    moved.push_back(steps[size_t(axis)]);
  return moved;
}

// The steps of a result in the array that becomes its transpose.
Dims steps_before(const Node& transpose) {
  const Dims steps = transpose.type().shape.strides();
  const Dims& permutation = transpose.attr<ops::TransposeAttrs>().permutation;
  Dims moved(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) moved[size_t(permutation[i])] = steps[i];
  return moved;
}

GemmDesc describe(const Epilogue& epilogue) {
  const Node& product = *epilogue.product;
  GemmDesc desc =
      describe_matmul(product, {steps_of(product.in(0)), steps_of(product.in(1)),
                                epilogue.transpose != nullptr ? steps_before(*epilogue.transpose)
                                                              : product.type().shape.strides()});
  desc.post = epilogue.post;
  desc.scale = epilogue.scale;
  desc.hook = epilogue.loop.has_value();
  return desc;
}

Offer offer_matmul(const Epilogue& epilogue, const Node& fused, const KernelOptions& options) {
  const Node& product = *epilogue.product;
  GemmDesc desc = describe(epilogue);
  if (const std::string reason = refuse_gemm(desc); !reason.empty()) return refuse(reason);
  const Tensor* constant_b = ops::constant_value(fused.in(epilogue.second));
  if (product.in(1).rank() != 2 || desc.n == 0 || desc.k == 0) constant_b = nullptr;
  desc.packed_b = constant_b != nullptr;
  const int threads = useful_threads(product.op().flops(product), options.threads);
  return {.kernel = std::make_unique<MatmulEpilogue>(desc, threads, epilogue, fused, constant_b)};
}

}  // namespace

Offer make_epilogue(const Node& node, const KernelOptions& options) {
  std::string reason;
  const auto epilogue = read_epilogue(node, reason);
  if (!epilogue) return refuse(reason);
  const bool is_conv = &epilogue->product->op() == &ops::conv_op;
  return (is_conv ? offer_conv : offer_matmul)(*epilogue, node, options);
}

bool claims_epilogue(const Node& node) {
  std::string reason;
  const auto epilogue = read_epilogue(node, reason);
  if (!epilogue || &epilogue->product->op() == &ops::conv_op) return epilogue.has_value();
  return refuse_gemm(describe(*epilogue)).empty();
}

}  // namespace keratin::cpu
