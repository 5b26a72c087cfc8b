#include "keratin/backend/cpu/levels/softmax.h"

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/levels.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"
#include "keratin/ops/softmax_operands.h"

namespace keratin::cpu {
namespace {

AxisSizes softmax_sizes(const Node& node) {
  return axis_sizes(node.in().shape(), node.attr<ops::AxisAttrs>().axis);
}

Offer make_softmax(const Node& node, const KernelOptions& options) {
  const auto& found = routines<SoftmaxRoutines>();
  const bool log = &node.op() == &ops::log_softmax_op;
  const auto routine = (log ? found.log_softmax : found.softmax)[node.in().dtype()];
  return offer_call<UnaryOperands>(
      node, text(node.name(), " ", node.in().shape()),
      [routine, s = softmax_sizes(node), threads = options.threads](const auto& v) {
        routine({.x = v.x.data(),
                 .y = v.y.data(),
                 .outer = s.outer,
                 .axis = s.axis,
                 .inner = s.inner,
                 .threads = threads});
      },
      {.in_place = true});
}

Offer make_softmax_grad(const Node& node, const KernelOptions& options) {
  const auto& found = routines<SoftmaxRoutines>();
  const bool log = &node.op() == &ops::log_softmax_grad_op;
  const auto routine = (log ? found.log_softmax_grad : found.softmax_grad)[node.in().dtype()];
  return offer_call<ops::SoftmaxGradOperands>(
      node, text(node.name(), " ", node.in().shape()),
      [routine, s = softmax_sizes(node), threads = options.threads](const auto& v) {
        routine({.y = v.y.data(),
                 .dy = v.dy.data(),
                 .dx = v.dx.data(),
                 .outer = s.outer,
                 .axis = s.axis,
                 .inner = s.inner,
                 .threads = threads});
      },
      {.in_place = true});
}

}  // namespace

extern constinit const KernelDef softmax_kernel{
    .name = "softmax",
    .ops = {&ops::softmax_op, &ops::log_softmax_op},
    .make = make_softmax,
};
extern constinit const KernelDef softmax_grad_kernel{
    .name = "softmax gradient",
    .ops = {&ops::softmax_grad_op, &ops::log_softmax_grad_op},
    .make = make_softmax_grad,
};

}  // namespace keratin::cpu
