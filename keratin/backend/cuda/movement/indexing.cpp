#include "keratin/ops/indexing.h"

#include "keratin/backend/cuda/families.h"
#include "keratin/backend/cuda/movement/index_layout.h"
#include "keratin/base/text.h"

namespace keratin::cuda {

namespace {

Source gather(const Node& node, bool along) {
  const Places p(node, along);
  return element_kernel(
      node,
      text("    const Index in = i % ", number(p.inner), ", j = i / ", number(p.inner), " % ",
           number(p.count), ", o = i / ", number(p.inner * p.count), ";\n    p2[i] = p0[(o * ",
           number(p.size), " + Index(checked_index(p1[", along ? "i" : "j", "], ", p.size,
           ", fault, tag))) * ", number(p.inner), " + in];\n"),
      true);
}

}  // namespace

Source make_gather(const Node& node) { return gather(node, false); }
Source make_take_along_axis(const Node& node) { return gather(node, true); }

}  // namespace keratin::cuda
