#include "keratin/ops/indexing.h"

#include <cstring>

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/indexing.h"
#include "keratin/backend/cpu/kernel_table.h"
#include "keratin/backend/cpu/kernels.h"
#include "keratin/base/text.h"
#include "keratin/ops/movement.h"

namespace keratin::cpu {
namespace {

// x as [outer, size, inner] around the axis, with `count` indices, or as many for every outer and
// inner position when they run along the axis.
struct Places {
  int64_t outer, size, inner, count;
  int index_bytes;
};

Places places_of(const Node& node, bool along) {
  const Shape &x = node.in(0).shape(), &indices = node.in(1).shape();
  const int64_t axis = node.attr<ops::AxisAttrs>().axis;
  return {x.count(0, axis), x[axis], x.count(axis + 1, x.rank()),
          along ? indices[axis] : indices.count(), static_cast<int>(size_of(node.in(1).dtype()))};
}

// Throws when a kernel found a bad index, at this position.
void check(const Node& node, const void* indices, int64_t bad) {
  if (bad < 0) return;
  const int64_t index = node.in(1).dtype() == DType::i32
                            ? static_cast<const int32_t*>(indices)[bad]
                            : static_cast<const int64_t*>(indices)[bad];
  ops::checked_index(node, index, node.in(0).shape()[node.attr<ops::AxisAttrs>().axis]);
}

Offer make_gather_by(const Node& node, const KernelOptions& options, bool along) {
  const auto kernel = along ? kernels().gather.gather_along : kernels().gather.gather;
  const auto bytes = static_cast<int>(size_of(node.type().dtype));
  return offer_call(text(along ? "gather elements " : "gather rows ", node.type().shape),
                    [=, s = places_of(node, along), &node, threads = options.threads](Pointers p) {
                      const int64_t bad = kernel({p[0], p[1], p[2], s.outer, s.size, s.inner,
                                                  s.count, bytes, s.index_bytes, threads});
                      check(node, p[1], bad);
                    });
}

Offer make_scatter_by(const Node& node, const KernelOptions& options, bool along) {
  const GatherKernels& table = kernels().gather;
  const auto kernel = (along ? table.scatter_add_along : table.scatter_add)[node.type().dtype];
  if (kernel == nullptr) return refuse("no scattering of ", node.type().dtype);
  const auto bytes = static_cast<size_t>(node.type().shape.count()) * size_of(node.type().dtype);
  return offer_call(text(along ? "scatter elements " : "scatter rows ", node.in(2).shape()),
                    [=, s = places_of(node, along), &node, threads = options.threads](Pointers p) {
                      if (p[0] != p[3] && bytes > 0) std::memcpy(p[3], p[0], bytes);
                      const int64_t bad = kernel({p[2], p[1], p[3], s.outer, s.size, s.inner,
                                                  s.count, s.index_bytes, threads});
                      check(node, p[1], bad);
                    },
                    {.in_place = true});
}

}  // namespace

Offer make_gather(const Node& node, const KernelOptions& options) {
  return make_gather_by(node, options, false);
}
Offer make_take_along_axis(const Node& node, const KernelOptions& options) {
  return make_gather_by(node, options, true);
}
Offer make_scatter_add(const Node& node, const KernelOptions& options) {
  return make_scatter_by(node, options, false);
}
Offer make_scatter_add_along_axis(const Node& node, const KernelOptions& options) {
  return make_scatter_by(node, options, true);
}

}  // namespace keratin::cpu
