#include "keratin/backend/cpu/conv.h"

#include "keratin/backend/cpu/kernels.h"
#include "keratin/backend/cpu/matmul.h"
#include "keratin/base/text.h"
#include "keratin/ops/conv.h"

namespace keratin::cpu {
namespace {

class ConvKernel final : public Kernel {
 public:
  ConvKernel(std::string_view name, const ConvDesc& desc, ConvDirection direction,
             const ConvOptions& options)
      : name_(name), direction_(direction), conv_(make_conv(desc, direction, options)) {}

  std::string describe() const override { return text(name_, " ", conv_->describe()); }
  size_t scratch_bytes() const override { return conv_->scratch_bytes(); }
  Launch bind(Pointers p) const override {
    return [this, p] {
      ConvArgs args{.result = p[2], .scratch = p[3]};
      switch (direction_) {
        case ConvDirection::forward:
          args.x = p[0];
          args.filter = p[1];
          break;
        case ConvDirection::grad_input:
          args.y = p[0];
          args.filter = p[1];
          break;
        case ConvDirection::grad_filter:
          args.x = p[0];
          args.y = p[1];
          break;
      }
      conv_->run(args);
    };
  }

 private:
  std::string_view name_;
  ConvDirection direction_;
  std::unique_ptr<Conv> conv_;
};

Offer offer(const Node& node, ConvDirection direction, const KernelOptions& options) {
  const ConvDesc desc = describe_conv(node);
  if (const std::string reason = refuse_conv(desc); !reason.empty()) return refuse(reason);
  const ConvOptions conv{.threads = useful_threads(desc.flops(), options.threads),
                         .deterministic = options.deterministic};
  return {.kernel = std::make_unique<ConvKernel>(node.name(), desc, direction, conv)};
}

}  // namespace

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

Offer make_conv_forward(const Node& node, const KernelOptions& options) {
  return offer(node, ConvDirection::forward, options);
}
Offer make_conv_grad_input(const Node& node, const KernelOptions& options) {
  return offer(node, ConvDirection::grad_input, options);
}
Offer make_conv_grad_filter(const Node& node, const KernelOptions& options) {
  return offer(node, ConvDirection::grad_filter, options);
}

}  // namespace keratin::cpu
