#include "keratin/ops/indexing.h"

#include <cstring>

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/levels.h"
#include "keratin/backend/cpu/levels/gather.h"
#include "keratin/ops/indexing_operands.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"

// Reading and adding at computed positions.
namespace keratin::cpu {
namespace {

// x around the axis, with `count` indices, or as many for every outer and inner position when they
// run along the axis.
struct IndexedSizes : AxisSizes {
  int64_t count;
  int index_bytes;
};

IndexedSizes indexed_sizes(const Node& node, bool along) {
  const Value x = node.in(0), indices = node.in(1);
  const int64_t axis = node.attr<ops::AxisAttrs>().axis;
  return {axis_sizes(x.shape(), axis), along ? indices.shape()[axis] : indices.shape().count(),
          static_cast<int>(size_of(indices.dtype()))};
}

// Throws when a routine found a bad index, at this position.
void check(const Node& node, const View& indices, int64_t bad) {
  if (bad < 0) return;
  const int64_t index = indices.dtype() == DType::i32 ? indices.as<const int32_t>()[bad]
                                                      : indices.as<const int64_t>()[bad];
  ops::checked_index(node, index, node.in(0).shape()[node.attr<ops::AxisAttrs>().axis]);
}

Offer make_gather(const Node& node, const KernelOptions& options) {
  const auto& found = routines<GatherRoutines>();
  const bool along = &node.op() == &ops::take_along_axis_op;
  const auto routine = along ? found.gather_along : found.gather;
  const auto bytes = static_cast<int>(size_of(node.type().dtype));
  return offer_call<ops::GatherOperands>(
      node, text(along ? "gather elements " : "gather rows ", node.type().shape),
      [=, s = indexed_sizes(node, along), &node, threads = options.threads](const auto& v) {
        const int64_t bad = routine({.x = v.x.data(),
                                     .index = v.indices.data(),
                                     .y = v.y.data(),
                                     .outer = s.outer,
                                     .axis = s.axis,
                                     .inner = s.inner,
                                     .count = s.count,
                                     .element_bytes = bytes,
                                     .index_bytes = s.index_bytes,
                                     .threads = threads});
        check(node, v.indices, bad);
      });
}

Offer make_scatter(const Node& node, const KernelOptions& options) {
  const auto& found = routines<GatherRoutines>();
  const bool along = &node.op() == &ops::scatter_add_along_axis_op;
  const auto routine = (along ? found.scatter_add_along : found.scatter_add)[node.type().dtype];
  if (routine == nullptr) return refuse("expected numbers, got ", node.type().dtype);
  const auto bytes = static_cast<size_t>(node.type().shape.count()) * size_of(node.type().dtype);
  return offer_call<ops::ScatterOperands>(
      node, text(along ? "scatter elements " : "scatter rows ", node.in(2).shape()),
      [=, s = indexed_sizes(node, along), &node, threads = options.threads](const auto& v) {
        if (v.x.data() != v.y.data() && bytes > 0) std::memcpy(v.y.data(), v.x.data(), bytes);
        const int64_t bad = routine({.x = v.updates.data(),
                                     .index = v.indices.data(),
                                     .y = v.y.data(),
                                     .outer = s.outer,
                                     .axis = s.axis,
                                     .inner = s.inner,
                                     .count = s.count,
                                     .index_bytes = s.index_bytes,
                                     .threads = threads});
        check(node, v.indices, bad);
      },
      {.in_place = true});
}

}  // namespace

extern constinit const KernelDef gather_kernel{
    .name = "gather",
    .ops = {&ops::gather_op, &ops::take_along_axis_op},
    .make = make_gather,
};
extern constinit const KernelDef scatter_kernel{
    .name = "scatter",
    .ops = {&ops::scatter_add_op, &ops::scatter_add_along_axis_op},
    .make = make_scatter,
};

}  // namespace keratin::cpu
