#include "keratin/backend/cpu/conv.h"

#include "keratin/backend/cpu/matmul.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/records.h"
#include "keratin/ops/window_operands.h"
#include "keratin/plan/view.h"

namespace keratin::cpu {
namespace {

// The arrays of a convolution in any direction. The one that the direction computes is `result`,
// and absent from the first three.
struct ConvViews {
  View x, filter, y, result;
  Pointers scratch;
};

ConvDirection direction_of(const OpDef& op) {
  if (&op == &ops::conv_grad_input_op) return ConvDirection::grad_input;
  return &op == &ops::conv_grad_filter_op ? ConvDirection::grad_filter : ConvDirection::forward;
}

ConvViews conv_views(const Node& node, Pointers pointers) {
  const Pointers scratch = scratch_slot(node, pointers);
  switch (direction_of(node.op())) {
    case ConvDirection::grad_input: {
      const auto v = operands<ops::ConvGradInputOperands>(node, pointers);
      return {.x = {}, .filter = v.filter, .y = v.dy, .result = v.dx, .scratch = scratch};
    }
    case ConvDirection::grad_filter: {
      const auto v = operands<ops::ConvGradFilterOperands>(node, pointers);
      return {.x = v.x, .filter = {}, .y = v.dy, .result = v.dfilter, .scratch = scratch};
    }
    default: {
      const auto v = operands<ops::ConvOperands>(node, pointers);
      return {.x = v.x, .filter = v.filter, .y = {}, .result = v.y, .scratch = scratch};
    }
  }
}

class ConvKernel final : public PreparedKernel {
 public:
  ConvKernel(const Node& node, const ConvDesc& desc, const ConvOptions& options)
      : node_(node),
        conv_(make_conv(desc, direction_of(node.op()), options)),
        is_prepared_(desc.packed_filter) {}

  std::string describe() const override { return text(node_.name(), " ", conv_->describe()); }
  size_t scratch_bytes() const override { return conv_->scratch_bytes(); }
  std::unique_ptr<Preparation> preparation() const override {
    return is_prepared_ ? filter_preparation(node_, 1, *conv_) : nullptr;
  }
  Launch bind(Pointers pointers) const override {
    return [this, v = conv_views(node_, pointers),
            prepared = is_prepared_ ? prepared_slot(node_, pointers) : nullptr] {
      conv_->run({.x = v.x.data(),
                  .filter = prepared != nullptr ? *prepared : v.filter.data(),
                  .y = v.y.data(),
                  .result = v.result.data(),
                  .scratch = *v.scratch});
    };
  }

 private:
  const Node& node_;
  std::unique_ptr<Conv> conv_;
  bool is_prepared_;
};

Offer make_conv_kernel(const Node& node, const KernelOptions& options) {
  ConvDesc desc = describe_conv(node);
  if (const std::string reason = refuse_conv(desc); !reason.empty()) return refuse(reason);
  const ConvOptions conv{.threads = useful_threads(desc.flops(), options.threads),
                         .deterministic = options.deterministic};
  desc.packed_filter =
      &node.op() == &ops::conv_op && prepares_filter(node.in(1), desc, conv, options);
  return {.kernel = std::make_unique<ConvKernel>(node, desc, conv)};
}

}  // namespace

bool prepares_filter(Value filter, const ConvDesc& desc, const ConvOptions& conv,
                     const KernelOptions& options) {
  if (!options.is_stable || !options.is_stable(filter)) return false;
  return packs_filter(desc, conv) || (is_computed(filter) && takes_packed_filter(desc));
}

std::unique_ptr<Preparation> filter_preparation(const Node& node, size_t input, const Conv& conv) {
  return std::make_unique<Packing>(node, input, conv.packed_bytes(), conv.describe_packing(),
                                   [&conv](const void* from, void* to) { conv.pack(from, to); });
}

ConvDesc describe_conv(const Node& node) {
  const ops::ConvGeometry geometry = ops::conv_geometry(node);
  ConvDesc desc{.dtype = node.type().dtype,
                .batch = geometry.batch,
                .channels = geometry.channels,
                .filters = geometry.outputs,
                .groups = geometry.groups};
  for (size_t d = 0; d < 3; ++d) {
    const ops::WindowAxis& axis = geometry.axes[d];
    desc.input[d] = axis.input;
    desc.output[d] = axis.output;
    desc.kernel[d] = axis.window;
    desc.stride[d] = axis.stride;
    desc.dilation[d] = axis.dilation;
    desc.pad[d] = axis.low;
  }
  return desc;
}

extern constinit const KernelDef conv_kernel{
    .name = "convolution tiles",
    .ops = {&ops::conv_op, &ops::conv_grad_input_op, &ops::conv_grad_filter_op},
    .make = make_conv_kernel,
};

}  // namespace keratin::cpu
