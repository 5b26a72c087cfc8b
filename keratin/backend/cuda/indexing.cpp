#include "keratin/ops/indexing.h"

#include "keratin/backend/cuda/families.h"
#include "keratin/ops/movement.h"

namespace keratin::cuda {

namespace {

// x as [outer, size, inner] around the axis; `count` indices, or one for each position where
// `along`.
struct Places {
  int64_t outer, size, inner, count;

  Places(const Node& node, bool along) {
    const int64_t axis = node.attr<ops::AxisAttrs>().axis;
    const Shape &x = node.in(0).shape(), &indices = node.in(1).shape();
    outer = x.count(0, axis);
    size = x[axis];
    inner = x.count(axis + 1, x.rank());
    count = along ? indices[axis] : indices.count();
  }
};

std::string number(int64_t value) { return text("Index(", std::max<int64_t>(value, 1), ")"); }

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

// Every element looks for what is added to it, in the order of the indices: no atomics, so the sum
// is always the same.
Source scatter_add(const Node& node, bool along) {
  const Places p(node, along);
  const DType dtype = node.type().dtype;
  const std::string at = text("(o * ", number(p.count), " + j) * ", number(p.inner), " + in");
  Source source = element_kernel(
      node,
      text("    const Index in = i % ", number(p.inner), ", k = i / ", number(p.inner), " % ",
           number(p.size), ", o = i / ", number(p.inner * p.size), ";\n    ", compute_type(dtype),
           " total = load(p0[i]);\n    for (Index j = 0; j < ", p.count, "; ++j) {\n",
           "      if (Index(checked_index(p1[", along ? at : "j", "], ", p.size,
           ", fault, tag)) == k) total = scalar::Add{}(total, load(p2[", at, "]));\n    }\n",
           "    p3[i] = ", storage_type(dtype), "(total);\n"),
      true);
  source.elementwise = true;
  return source;
}

}  // namespace

Source make_gather(const Node& node) { return gather(node, false); }
Source make_take_along_axis(const Node& node) { return gather(node, true); }
Source make_scatter_add(const Node& node) { return scatter_add(node, false); }
Source make_scatter_add_along_axis(const Node& node) { return scatter_add(node, true); }

}  // namespace keratin::cuda
