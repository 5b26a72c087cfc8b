#include "keratin/backend/cuda/families.h"
#include "keratin/ops/cumulative.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/sort.h"

// Ops that walk along one axis, and random numbers.
namespace keratin::cuda {

namespace {

struct Line {
  int64_t outer, size, inner;
  Line(const Shape& shape, int64_t axis)
      : outer(shape.count(0, axis)),
        size(shape[axis]),
        inner(shape.count(axis + 1, shape.rank())) {}
  // Element `k` of line i.
  std::string at(const std::string& k) const {
    const int64_t step = std::max<int64_t>(inner, 1);
    return text("(i / Index(", step, ") * Index(", size, ") + ", k, ") * Index(", step,
                ") + i % Index(", step, ")");
  }
};

Source cumulate(const Node& node, const char* functor) {
  const auto& attrs = node.attr<ops::CumulativeAttrs>();
  const Line line(node.type().shape, attrs.axis);
  const DType dtype = node.type().dtype;
  const std::string k = attrs.reverse ? text("(", line.size, " - 1 - step)") : "step";
  return element_kernel(
      node, line.outer * line.inner,
      text("    ", compute_type(dtype), " total = start_of<", compute_type(dtype), ">(", functor,
           "{});\n    for (Index step = 0; step < ", line.size, "; ++step) {\n",
           "      const Index at = ", line.at(k), ";\n      const auto next = ", functor,
           "{}(total, load(p0[at]));\n      p1[at] = ", storage_type(dtype), "(",
           attrs.exclusive ? "total" : "next", ");\n      total = next;\n    }\n"));
}

// The first position whose element beats all before it; NaN beats everything.
Source arg_extremum(const Node& node, const char* beats) {
  const Line line(node.in().shape(), node.attr<ops::ArgAttrs>().axis);
  return element_kernel(
      node,
      text("    long long best = 0;\n    auto known = load(p0[", line.at("0"), "]);\n",
           "    for (Index k = 1; k < ", line.size, "; ++k) {\n      const auto next = load(p0[",
           line.at("k"), "]);\n      if (known == known && (next != next || next ", beats,
           " known)) { best = k; known = next; }\n    }\n    p1[i] = best;\n"));
}

}  // namespace

Source make_cumsum(const Node& node) { return cumulate(node, "scalar::Add"); }
Source make_cumprod(const Node& node) { return cumulate(node, "scalar::Mul"); }
Source make_argmax(const Node& node) { return arg_extremum(node, ">"); }
Source make_argmin(const Node& node) { return arg_extremum(node, "<"); }

// An element's place is the number of those that come before it; equals keep their order, NaN comes
// last.
Source make_argsort(const Node& node) {
  const auto [axis, descending] = node.attr<ops::SortAttrs>();
  const Line line(node.type().shape, axis);
  const int64_t step = std::max<int64_t>(line.inner, 1), size = std::max<int64_t>(line.size, 1);
  return element_kernel(
      node,
      text("    const Index in = i % Index(", step, "), k = i / Index(", step, ") % Index(", size,
           "), base = i / Index(", step * size, ") * Index(", step * size,
           ") + in;\n    const auto x = load(p0[i]);\n    Index before = 0;\n",
           "    for (Index j = 0; j < ", size, "; ++j) {\n      const auto y = load(p0[base + j * ",
           "Index(", step, ")]);\n      const bool nans = x != x && y != y;\n",
           "      const bool first = x != x ? y == y : y == y && y ", descending ? ">" : "<",
           " x;\n      if (first || ((y == x || nans) && j < k)) ++before;\n    }\n",
           "    p1[base + before * Index(", step, ")] = k;\n"));
}

Source make_random_bits(const Node& node) {
  return element_kernel(node,
                        "    p1[i] = int(philox_bits(uint64_t(p0[0]), uint64_t(p0[1]) + "
                        "uint64_t(i)));\n");
}

}  // namespace keratin::cuda
