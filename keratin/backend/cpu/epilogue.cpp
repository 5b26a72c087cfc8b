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
#include "keratin/plan/view.h"

namespace keratin::cpu {
namespace {

// What the matmul and the convolution share: their arrays, and the loop over each block.
class EpilogueKernel : public PreparedKernel {
 public:
  EpilogueKernel(const Epilogue& epilogue, const Node& fused) : epilogue_(epilogue), fused_(fused) {
    if (epilogue.loop) loop_.emplace(*epilogue.loop);
  }

  // The loop reads an element before it writes it, but only the tiles know of other arrays.
  bool in_place(size_t input, size_t) const override {
    const bool by_tiles = input == epilogue_.addend || input == epilogue_.gate;
    return by_tiles && takes_addend_in_place() && !read_by_loop(input);
  }

 protected:
  struct Arrays {
    View first, second, bias, addend, gate, result;
    std::vector<View> loop_inputs;
    Pointers scratch;
  };
  Arrays arrays(Pointers pointers) const {
    const auto v = operands<ListOperands>(fused_, pointers);
    const auto input = [&](const std::optional<size_t>& i) { return i ? v.inputs[*i] : View(); };
    Arrays arrays{.first = v.inputs[epilogue_.first],
                  .second = v.inputs[epilogue_.second],
                  .bias = input(epilogue_.bias),
                  .addend = input(epilogue_.addend),
                  .gate = input(epilogue_.gate),
                  .result = v.outputs[0],
                  .loop_inputs = {},
                  .scratch = scratch_slot(fused_, pointers)};
    for (const size_t i : epilogue_.loop_inputs) arrays.loop_inputs.push_back(v.inputs[i]);
    return arrays;
  }

  virtual bool takes_addend_in_place() const = 0;

  bool read_by_loop(size_t input) const {
    const auto& inputs = epilogue_.loop_inputs;
    return std::find(inputs.begin(), inputs.end(), input) != inputs.end();
  }

  // The loop tied to the arrays of one run.
  class Blocks {
   public:
    Blocks(const EpilogueKernel& kernel, const Arrays& arrays) : kernel_(&kernel) {
      const size_t inputs = arrays.loop_inputs.size();
      addresses_[0] = addresses_[inputs + 1] = static_cast<char*>(arrays.result.data());
      for (size_t i = 0; i < inputs; ++i)
        addresses_[i + 1] = static_cast<char*>(arrays.loop_inputs[i].data());
    }
    BlockHook hook() const {
      return {[](const void* self, int64_t row, int64_t rows, int64_t column, int64_t columns) {
                const auto& blocks = *static_cast<const Blocks*>(self);
                blocks.loop().run(blocks.addresses_.data(), row, rows, column, columns);
              },
              this,
              [](const void* self, int64_t row, int64_t rows, int64_t column, int64_t columns) {
                const auto& blocks = *static_cast<const Blocks*>(self);
                blocks.loop().fetch(blocks.addresses_.data(), row, rows, column, columns);
              }};
    }

   private:
    const EpilogueLoop& loop() const { return *kernel_->loop_; }

    const EpilogueKernel* kernel_;
    std::array<char*, max_loop_pointers> addresses_;  // of the loop's inputs, then its output
  };

  std::string suffix() const {
    if (epilogue_.post.empty() && !loop_) return " ";
    return loop_ ? " + epilogue and loop " : " + epilogue ";
  }

  const Epilogue& epilogue() const { return epilogue_; }
  const Node& fused() const { return fused_; }

 private:
  Epilogue epilogue_;
  const Node& fused_;
  std::optional<EpilogueLoop> loop_;
};

class MatmulEpilogue final : public EpilogueKernel {
 public:
  MatmulEpilogue(const MatmulDesc& desc, int threads, const Epilogue& epilogue, const Node& fused,
                 PackedB b)
      : EpilogueKernel(epilogue, fused), matmul_(desc, threads), packed_(matmul_, b) {}

  std::string describe() const override { return text("matmul", suffix(), matmul_.describe()); }
  size_t scratch_bytes() const override { return matmul_.scratch_bytes(); }
  std::unique_ptr<Preparation> preparation() const override {
    return packed_.preparation(fused(), epilogue().second, matmul_);
  }
  Launch bind(Pointers pointers) const override {
    return [this, v = arrays(pointers),
            prepared = packed_.is_prepared() ? prepared_slot(fused(), pointers) : nullptr] {
      const Blocks blocks(*this, v);
      const void* b = prepared != nullptr ? *prepared : packed_.constant();
      matmul_.run({.a = v.first.data(),
                   .b = b != nullptr ? b : v.second.data(),
                   .c = v.result.data(),
                   .bias = v.bias.data(),
                   .addend = v.addend.data(),
                   .gate = v.gate.data(),
                   .scratch = *v.scratch,
                   .hook = blocks.hook()});
    };
  }

 private:
  bool takes_addend_in_place() const override { return matmul_.takes_addend_in_place(); }

  TiledMatmul matmul_;
  PackedMatrix packed_;
};

class ConvEpilogue final : public EpilogueKernel {
 public:
  ConvEpilogue(const ConvDesc& desc, const ConvOptions& options, const Epilogue& epilogue,
               const Node& fused)
      : EpilogueKernel(epilogue, fused),
        conv_(make_conv(desc, ConvDirection::forward, options)),
        is_prepared_(desc.packed_filter) {}

  std::string describe() const override { return text("conv", suffix(), conv_->describe()); }
  size_t scratch_bytes() const override { return conv_->scratch_bytes(); }
  std::unique_ptr<Preparation> preparation() const override {
    return is_prepared_ ? filter_preparation(fused(), epilogue().second, *conv_) : nullptr;
  }
  Launch bind(Pointers pointers) const override {
    return [this, v = arrays(pointers),
            prepared = is_prepared_ ? prepared_slot(fused(), pointers) : nullptr] {
      const Blocks blocks(*this, v);
      conv_->run({.x = v.first.data(),
                  .filter = prepared != nullptr ? *prepared : v.second.data(),
                  .result = v.result.data(),
                  .bias = v.bias.data(),
                  .addend = v.addend.data(),
                  .scratch = *v.scratch,
                  .hook = blocks.hook()});
    };
  }

 private:
  bool takes_addend_in_place() const override { return conv_->takes_addend_in_place(); }

  std::unique_ptr<Conv> conv_;
  bool is_prepared_;
};

Offer offer_conv(const Epilogue& epilogue, const Node& fused, const KernelOptions& options) {
  ConvDesc desc = describe_conv(*epilogue.root);
  desc.post = epilogue.post;
  desc.cap = epilogue.cap;
  desc.hook = epilogue.loop.has_value();
  if (const std::string reason = refuse_conv(desc); !reason.empty()) return refuse(reason);
  const ConvOptions conv{.threads = useful_threads(desc.flops(), options.threads),
                         .deterministic = options.deterministic};
  desc.packed_filter = prepares_filter(fused.in(epilogue.second), desc, conv, options);
  return {.kernel = std::make_unique<ConvEpilogue>(desc, conv, epilogue, fused)};
}

// The strides of an operand in the array that it is a transpose of.
Dims strides_of(Value operand) {
  const Node& node = operand.node();
  if (&node.op() != &ops::transpose_op) return operand.shape().strides();
  const Dims strides = node.in().shape().strides();
  Dims moved;
  for (const int64_t axis : node.attr<ops::TransposeAttrs>().permutation)
    moved.push_back(strides[size_t(axis)]);
  return moved;
}

// The strides of a result in the array that becomes its transpose.
Dims strides_before(const Node& transpose) {
  const Dims strides = transpose.type().shape.strides();
  const Dims& permutation = transpose.attr<ops::TransposeAttrs>().permutation;
  Dims moved(strides.size());
  for (size_t i = 0; i < strides.size(); ++i) moved[size_t(permutation[i])] = strides[i];
  return moved;
}

MatmulDesc describe(const Epilogue& epilogue) {
  const Node& matmul = *epilogue.root;
  MatmulDesc desc =
      describe_matmul(matmul, {strides_of(matmul.in(0)), strides_of(matmul.in(1)),
                               epilogue.transpose != nullptr ? strides_before(*epilogue.transpose)
                                                             : matmul.type().shape.strides()});
  desc.post = epilogue.post;
  desc.scale = epilogue.scale;
  desc.cap = epilogue.cap;
  desc.hook = epilogue.loop.has_value();
  return desc;
}

Offer offer_matmul(const Epilogue& epilogue, const Node& fused, const KernelOptions& options) {
  const Node& matmul = *epilogue.root;
  MatmulDesc desc = describe(epilogue);
  if (const std::string reason = refuse_matmul(desc); !reason.empty()) return refuse(reason);
  const int threads = useful_threads(matmul.op().flops(matmul), options.threads);
  const PackedB b = choose_packed_b(fused.in(epilogue.second), desc, threads, options);
  desc.packed_b = b.is_packed();
  return {.kernel = std::make_unique<MatmulEpilogue>(desc, threads, epilogue, fused, b)};
}

Offer make_epilogue(const Node& node, const KernelOptions& options) {
  std::string reason;
  const auto epilogue = read_epilogue(node, reason);
  if (!epilogue) return refuse(reason);
  const bool is_conv = &epilogue->root->op() == &ops::conv_op;
  return (is_conv ? offer_conv : offer_matmul)(*epilogue, node, options);
}

std::optional<std::string> refuses_epilogue(const Node& node) {
  std::string reason;
  const auto epilogue = read_epilogue(node, reason);
  if (!epilogue) return reason;
  if (&epilogue->root->op() == &ops::conv_op) return std::nullopt;
  reason = refuse_matmul(describe(*epilogue));
  if (reason.empty()) return std::nullopt;
  return reason;
}

}  // namespace

extern constinit const KernelDef epilogue_kernel{
    .name = "tiles with an epilogue",
    .ops = {&ops::fused_op},
    .refuses = refuses_epilogue,
    .make = make_epilogue,
};

}  // namespace keratin::cpu
