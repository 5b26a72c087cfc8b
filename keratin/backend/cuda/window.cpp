#include "keratin/backend/cuda/families.h"
#include "keratin/backend/cuda/window_text.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/pool.h"

// Convolutions and pooling, one thread per output element, straight from their definitions.
namespace keratin::cuda {

namespace {

// Element i of [batch, places, channels]: the numbers n, `place` and c.
std::string split(const char* place, int64_t places, int64_t channels) {
  return text("    const Index c = i % Index(", channels, "), ", place, " = i / Index(", channels,
              ") % Index(", places, "), n = i / Index(", channels * places, ");\n");
}

// Sums are made in f32, or f64.
std::string total_of(DType dtype) { return text("    ", compute_type(dtype), " total = 0;\n"); }
std::string store_total(DType dtype, size_t out) {
  return text("    p", out, "[i] = ", storage_type(dtype), "(total);\n");
}

}  // namespace

std::string find_input(const WindowAxes& a) {
  std::string code = "      bool inside = true; Index x = 0;\n";
  for (size_t axis = 0; axis < a.size(); ++axis)
    code += text("      { const Index c = ", coordinate(outputs(a), axis, "o"), " * Index(",
                 a[axis].stride, ") - Index(", a[axis].low, ") + ",
                 coordinate(window(a), axis, "k"), " * Index(", a[axis].dilation, ");\n",
                 "        inside = inside && c >= 0 && c < Index(", a[axis].input,
                 "); x = x * Index(", a[axis].input, ") + c; }\n");
  return code;
}

std::string find_output(const WindowAxes& a) {
  std::string code = "      bool inside = true; Index o = 0;\n";
  for (size_t axis = 0; axis < a.size(); ++axis)
    code += text("      { const Index t = ", coordinate(inputs(a), axis, "x"), " + Index(",
                 a[axis].low, ") - ", coordinate(window(a), axis, "k"), " * Index(",
                 a[axis].dilation, "), c = t / Index(", a[axis].stride, ");\n",
                 "        inside = inside && t >= 0 && t % Index(", a[axis].stride,
                 ") == 0 && c < Index(", a[axis].output, "); o = o * Index(", a[axis].output,
                 ") + c; }\n");
  return code;
}

Source make_conv(const Node& node) {
  const ops::ConvGeometry g = ops::conv_geometry(node);
  const int64_t depth = g.channels / g.groups, width = g.outputs / g.groups;
  const DType dtype = node.type().dtype;
  return element_kernel(
      node,
      split("o", outputs_of(g.axes), g.outputs) + total_of(dtype) +
          text("    for (Index k = 0; k < ", window_of(g.axes), "; ++k) {\n", find_input(g.axes),
               "      if (!inside) continue;\n      for (Index d = 0; d < ", depth, "; ++d)\n",
               "        total = fma(load(p0[(n * Index(", inputs_of(g.axes), ") + x) * Index(",
               g.channels, ") + c / Index(", width, ") * Index(", depth,
               ") + d]), load(p1[(k * Index(", depth, ") + d) * Index(", g.outputs,
               ") + c]), total);\n    }\n") +
          store_total(dtype, 2));
}

Source make_conv_grad_input(const Node& node) {
  const ops::ConvGeometry g = ops::conv_geometry(node);
  const int64_t depth = g.channels / g.groups, width = g.outputs / g.groups;
  const DType dtype = node.type().dtype;
  return element_kernel(
      node,
      split("x", inputs_of(g.axes), g.channels) + total_of(dtype) +
          text("    for (Index k = 0; k < ", window_of(g.axes), "; ++k) {\n", find_output(g.axes),
               "      if (!inside) continue;\n      const Index first = c / Index(", depth,
               ") * Index(", width, ");\n      for (Index m = first; m < first + ", width,
               "; ++m)\n        total = fma(load(p0[(n * Index(", outputs_of(g.axes),
               ") + o) * Index(", g.outputs, ") + m]), load(p1[(k * Index(", depth,
               ") + c % Index(", depth, ")) * Index(", g.outputs, ") + m]), total);\n    }\n") +
          store_total(dtype, 2));
}

// One block per element of the filter: its threads share the batch and the positions.
Source make_conv_grad_filter(const Node& node) {
  const ops::ConvGeometry g = ops::conv_geometry(node);
  const int64_t depth = g.channels / g.groups, width = g.outputs / g.groups;
  const DType dtype = node.type().dtype;
  const int64_t count = node.type().shape.count(), places = g.batch * outputs_of(g.axes);
  Source source;
  source.name = node.name();
  source.text =
      text("using Index = ", index_type(node), ";\n") +
      function(
          node, source, "kernel",
          text("  const Index m = blockIdx.x % Index(", g.outputs, "), d = blockIdx.x / Index(",
               g.outputs, ") % Index(", depth, "), k = blockIdx.x / Index(", g.outputs * depth,
               ");\n  ", compute_type(dtype), " total = 0;\n  __shared__ ", compute_type(dtype),
               " shared[", block_size, "];\n  for (Index at = threadIdx.x; at < Index(", places,
               "); at += ", block_size, ") {\n      const Index o = at % Index(",
               std::max<int64_t>(outputs_of(g.axes), 1), "), n = at / Index(",
               std::max<int64_t>(outputs_of(g.axes), 1), ");\n", find_input(g.axes),
               "      if (inside) total = fma(load(p0[(n * Index(", inputs_of(g.axes),
               ") + x) * Index(", g.channels, ") + m / Index(", width, ") * Index(", depth,
               ") + d]), load(p1[at * Index(", g.outputs, ") + m]), total);\n  }\n",
               "  total = combine<scalar::Add, ", block_size,
               ", 1>(total, shared, threadIdx.x, 0);\n",
               "  if (threadIdx.x == 0) p2[blockIdx.x] = ", storage_type(dtype), "(total);\n"));
  if (count > 0) source.passes = {{"kernel", static_cast<unsigned>(count)}};
  return source;
}

Source make_max_pool(const Node& node) {
  const ops::PoolGeometry g = ops::pool_geometry(node);
  return element_kernel(
      node, text(split("o", outputs_of(g.axes), g.channels),
                 "    Index where = -1, best = 0;\n    for (Index k = 0; k < ", window_of(g.axes),
                 "; ++k) {\n", find_input(g.axes),
                 "      if (!inside) continue;\n      const Index at = (n * Index(",
                 inputs_of(g.axes), ") + x) * Index(", g.channels,
                 ") + c;\n      const auto known = load(p0[best]), next = load(p0[at]);\n",
                 "      if (where >= 0 && !(known == known && (next > known || next != next))) "
                 "continue;\n      where = k; best = at;\n    }\n",
                 "    if (p1 != nullptr) p1[i] = p0[best];\n    if (p2 != nullptr) p2[i] = ",
                 storage_type(node.type(1).dtype), "(where);\n"));
}

Source make_max_unpool(const Node& node) {
  const ops::PoolGeometry g = ops::pool_geometry(node);
  const DType dtype = node.type().dtype;
  return element_kernel(
      node,
      split("x", inputs_of(g.axes), g.channels) + total_of(dtype) +
          text("    for (Index k = 0; k < ", window_of(g.axes), "; ++k) {\n", find_output(g.axes),
               "      const Index y = (n * Index(", outputs_of(g.axes), ") + o) * Index(",
               g.channels,
               ") + c;\n      if (inside && Index(p1[y]) == k) total += load(p0[y]);\n    }\n") +
          store_total(dtype, 2));
}

Source make_max_repool(const Node& node) {
  const ops::PoolGeometry g = ops::pool_geometry(node);
  const DType dtype = node.type().dtype;
  return element_kernel(node,
                        split("o", outputs_of(g.axes), g.channels) + total_of(dtype) +
                            text("    const Index k = Index(p1[i]);\n    {\n", find_input(g.axes),
                                 "      if (inside) total = load(p0[(n * Index(", inputs_of(g.axes),
                                 ") + x) * Index(", g.channels, ") + c]);\n    }\n") +
                            store_total(dtype, 2));
}

Source make_avg_pool(const Node& node) {
  const ops::PoolGeometry g = ops::pool_geometry(node);
  const DType dtype = node.type().dtype;
  return element_kernel(
      node,
      split("o", outputs_of(g.axes), g.channels) + total_of(dtype) +
          text("    Index count = 0;\n    for (Index k = 0; k < ", window_of(g.axes), "; ++k) {\n",
               find_input(g.axes),
               "      if (!inside) continue;\n      ++count;\n      total += load(p0[(n * Index(",
               inputs_of(g.axes), ") + x) * Index(", g.channels, ") + c]);\n    }\n",
               "    total /= count;\n") +
          store_total(dtype, 1));
}

Source make_avg_pool_grad(const Node& node) {
  const ops::PoolGeometry g = ops::pool_geometry(node);
  const DType dtype = node.type().dtype;
  // How many elements of the window of output o are no padding.
  std::string count;
  for (size_t axis = 0; axis < g.axes.size(); ++axis) {
    const ops::WindowAxis& a = g.axes[axis];
    count +=
        text("      { Index here = 0; const Index c = ", coordinate(outputs(g.axes), axis, "o"),
             " * Index(", a.stride, ") - Index(", a.low, ");\n        for (Index j = 0; j < ",
             a.window, "; ++j) { const Index at = c + j * Index(", a.dilation,
             "); here += at >= 0 && at < Index(", a.input, "); }\n        count *= here; }\n");
  }
  return element_kernel(
      node, split("x", inputs_of(g.axes), g.channels) + total_of(dtype) +
                text("    for (Index k = 0; k < ", window_of(g.axes), "; ++k) {\n",
                     find_output(g.axes), "      if (!inside) continue;\n      Index count = 1;\n",
                     count, "      total += load(p0[(n * Index(", outputs_of(g.axes),
                     ") + o) * Index(", g.channels, ") + c]) / count;\n    }\n") +
                store_total(dtype, 1));
}

}  // namespace keratin::cuda
