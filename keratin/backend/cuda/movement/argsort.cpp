#include "keratin/backend/cuda/movement/line.h"
#include "keratin/backend/cuda/movement/sort_source.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/records.h"
#include "keratin/ops/sort.h"

// Equals keep their order, NaN comes last.
namespace keratin::cuda {

namespace {

Line line_of(const Node& node) { return {node.type().shape, node.attr<ops::SortAttrs>().axis}; }

// Best for short lines.
Source write_counting_argsort(const Node& node) {
  const auto [x, y] = arguments<UnaryOperands>(node);
  const char* descending = node.attr<ops::SortAttrs>().descending ? "true" : "false";
  return element_kernel(
      node, node.type().shape.count(),
      {line_of(node).define(), text("lines::argsort<layout, ", descending, ">"), text(x, ", ", y)});
}

Source write_radix_argsort(const Node& node) {
  const auto [x, y] = arguments<UnaryOperands>(node);
  const bool descending = node.attr<ops::SortAttrs>().descending;
  const Line line = line_of(node);
  const DType dtype = node.in().dtype();
  const auto bits = static_cast<int>(8 * size_of(is_float(dtype) && size_of(dtype) < 4
                                                     ? DType::f32  // what arithmetic is done in
                                                     : dtype));
  const int64_t lines = line.outer * line.inner;
  RadixSort sort{.items = line.size,
                 .lines = lines,
                 .bits = std::max(bits, 32),
                 .wide = bits > 32,
                 .key = text("sorting::sort_key<", descending ? "true" : "false", ">(load(", x,
                             "[layout.at(line, i)]))")};
  Source source;
  source.name = node.name();
  source.code = text(line.define(), "using Index = ", index_type(node), ";\n");
  sort.write(node, source);
  source.code +=
      function(node, source, "copy",
               text("  lines::store_order<layout, Index>(", sort.order, ", ", y, ");\n"));
  source.launches.push_back({"copy",
                             static_cast<unsigned>((line.size + block_size - 1) / block_size),
                             static_cast<unsigned>(lines)});
  return source;
}

std::optional<std::string> refuses_radix_argsort(const Node& node) {
  constexpr int64_t short_line = 256, max_lines = 65535;
  const Line line = line_of(node);
  const int64_t lines = line.outer * line.inner;
  if (line.size <= short_line)
    return text("lines of up to ", short_line, " sort faster by counting");
  if (line.size >= RadixSort::max_items) return text("a line has ", line.size, " elements");
  if (lines == 0 || lines > max_lines) return text(lines, " lines, not 1 to ", max_lines);
  return std::nullopt;
}

}  // namespace

extern const CudaKernel radix_argsort_kernel = source_kernel<write_radix_argsort>(
    {.name = "argsort by digits", .ops = {&ops::argsort_op}, .refuses = refuses_radix_argsort},
    {"%x: f64[1000]", "%y = argsort(%x) {axis = 0}"});
extern const CudaKernel counting_argsort_kernel = source_kernel<write_counting_argsort>(
    {.name = "argsort by counting", .ops = {&ops::argsort_op}},
    {"%x: f32[3,4,5]", "%y = argsort(%x) {axis = 1, descending = true}"});

}  // namespace keratin::cuda
