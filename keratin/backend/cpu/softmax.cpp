#include "keratin/backend/cpu/softmax.h"

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/kernel_table.h"
#include "keratin/base/text.h"
#include "keratin/ops/movement.h"

namespace keratin::cpu {
namespace {

struct Sizes {
  int64_t outer, axis, inner;
};

Sizes sizes_of(const Node& node) {
  const Shape& shape = node.in().shape();
  const int64_t axis = node.attr<ops::AxisAttrs>().axis;
  return {shape.count(0, axis), shape[axis], shape.count(axis + 1, shape.rank())};
}

Offer forward(const Node& node, const KernelOptions& options, void (*kernel)(const SoftmaxArgs&)) {
  return offer_call(text(node.name(), " ", node.in().shape()),
                    [=, s = sizes_of(node), threads = options.threads](Pointers p) {
                      kernel({p[0], p[1], s.outer, s.axis, s.inner, threads});
                    },
                    {.in_place = true});
}

Offer backward(const Node& node, const KernelOptions& options,
               void (*kernel)(const SoftmaxGradArgs&)) {
  return offer_call(text(node.name(), " ", node.in().shape()),
                    [=, s = sizes_of(node), threads = options.threads](Pointers p) {
                      kernel({p[0], p[1], p[2], s.outer, s.axis, s.inner, threads});
                    },
                    {.in_place = true});
}

}  // namespace

Offer make_softmax(const Node& node, const KernelOptions& options) {
  return forward(node, options, kernels().softmax.softmax[node.in().dtype()]);
}
Offer make_log_softmax(const Node& node, const KernelOptions& options) {
  return forward(node, options, kernels().softmax.log_softmax[node.in().dtype()]);
}
Offer make_softmax_grad(const Node& node, const KernelOptions& options) {
  return backward(node, options, kernels().softmax.softmax_grad[node.in().dtype()]);
}
Offer make_log_softmax_grad(const Node& node, const KernelOptions& options) {
  return backward(node, options, kernels().softmax.log_softmax_grad[node.in().dtype()]);
}

}  // namespace keratin::cpu
