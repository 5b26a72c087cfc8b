#include "keratin/backend/cuda/families.h"
#include "keratin/backend/cuda/movement/line.h"
#include "keratin/backend/cuda/movement/sort_source.h"
#include "keratin/base/text.h"
#include "keratin/ops/sort.h"

// Equals keep their order, NaN comes last.
namespace keratin::cuda {

namespace {

// An element's place is the number of those that come before it: best for short lines.
Source count_smaller(const Node& node, const Line& line, bool descending) {
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

Source sort_lines(const Node& node, const Line& line, bool descending) {
  const DType dtype = node.in().dtype();
  const auto bits = static_cast<int>(8 * size_of(is_float(dtype) && size_of(dtype) < 4
                                                     ? DType::f32  // what arithmetic is done in
                                                     : dtype));
  const int64_t inner = line.inner, lines = line.outer * inner;
  const std::string at = text("(line / Index(", inner, ") * Index(", line.size, ") + i) * Index(",
                              inner, ") + line % Index(", inner, ")");
  SortText sort{
      .items = line.size,
      .lines = lines,
      .bits = std::max(bits, 32),
      .wide = bits > 32,
      .key = text("sorting::sort_key<", descending ? "true" : "false", ">(load(p0[", at, "]))")};
  Source source;
  source.name = node.name();
  source.text = text("using Index = ", index_type(node), ";\n");
  sort.write(node, source);
  source.text +=
      function(node, source, "copy",
               text("  const Index line = blockIdx.y;\n  const Index i = blockIdx.x * Index(",
                    block_size, ") + threadIdx.x;\n  if (i < Index(", line.size, ")) p1[", at,
                    "] = (", sort.order, ")[line * Index(", line.size, ") + i];\n"));
  source.passes.push_back({"copy", static_cast<unsigned>((line.size + block_size - 1) / block_size),
                           static_cast<unsigned>(lines)});
  return source;
}

}  // namespace

Source make_argsort(const Node& node) {
  constexpr int64_t short_line = 256, most_lines = 65535;
  const auto [axis, descending] = node.attr<ops::SortAttrs>();
  const Line line(node.type().shape, axis);
  const bool sort = line.size > short_line && line.size < SortText::most_items &&
                    line.outer * line.inner > 0 && line.outer * line.inner <= most_lines;
  return sort ? sort_lines(node, line, descending) : count_smaller(node, line, descending);
}

}  // namespace keratin::cuda
