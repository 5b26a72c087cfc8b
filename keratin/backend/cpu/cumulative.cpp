#include "keratin/ops/cumulative.h"

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/levels.h"
#include "keratin/backend/cpu/levels/cumulative.h"
#include "keratin/ops/records.h"

namespace keratin::cpu {
namespace {

Offer make_cumulative(const Node& node, const KernelOptions& options) {
  const auto& found = routines<CumulativeRoutines>();
  const DType dtype = node.in().dtype();
  const auto routine = (&node.op() == &ops::cumsum_op ? found.sum : found.prod)[dtype];
  if (routine == nullptr) return refuse("expected numbers, got ", dtype);
  const auto& attrs = node.attr<ops::CumulativeAttrs>();
  return offer_call<UnaryOperands>(
      node, text(node.name(), " ", node.in().shape()),
      [routine, s = axis_sizes(node.in().shape(), attrs.axis), exclusive = attrs.exclusive,
       reverse = attrs.reverse, threads = options.threads](const auto& v) {
        routine({.x = v.x.data(),
                 .y = v.y.data(),
                 .outer = s.outer,
                 .axis = s.axis,
                 .inner = s.inner,
                 .exclusive = exclusive,
                 .reverse = reverse,
                 .threads = threads});
      },
      {.in_place = true});
}

}  // namespace

extern constinit const KernelDef cumulative_kernel{
    .name = "cumulative sum or product",
    .ops = {&ops::cumsum_op, &ops::cumprod_op},
    .make = make_cumulative,
};

}  // namespace keratin::cpu
