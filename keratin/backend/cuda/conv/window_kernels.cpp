#include "keratin/backend/cuda/conv/window_source.h"
#include "keratin/backend/cuda/matmul/cublas_matmul.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/pool.h"
#include "keratin/ops/records.h"
#include "keratin/ops/window_operands.h"

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
std::string store_total(DType dtype, Argument out) {
  return text("    ", out, "[i] = ", storage_type(dtype), "(total);\n");
}

}  // namespace

std::string find_input(const WindowAxes& a) {
  std::string code = "      bool inside = true; Index x = 0;\n";
  for (size_t axis = 0; axis < a.size(); ++axis) {
    const ops::WindowAxis& w = a[axis];
    const int64_t last = (w.output - 1) * w.stride - w.low + w.extent() - 1;
    code +=
        text("      { const Index c = ", coordinate(outputs(a), axis, "o"), " * Index(", w.stride,
             ") - Index(", w.low, ") + ", coordinate(window(a), axis, "k"), " * Index(", w.dilation,
             ");\n        ", w.low > 0 ? "inside = inside && c >= 0; " : "",
             last >= w.input ? text("inside = inside && c < Index(", w.input, "); ") : "",
             "x = x * Index(", w.input, ") + c; }\n");
  }
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

namespace {

Source write_conv(const Node& node) {
  const auto p = arguments<ops::ConvOperands>(node);
  const ops::ConvGeometry g = ops::conv_geometry(node);
  const int64_t depth = g.channels / g.groups, width = g.outputs / g.groups;
  const DType dtype = node.type().dtype;
  return element_kernel(
      node,
      split("o", outputs_of(g.axes), g.outputs) + total_of(dtype) +
          text("    for (Index k = 0; k < ", window_of(g.axes), "; ++k) {\n", find_input(g.axes),
               "      if (!inside) continue;\n      for (Index d = 0; d < ", depth, "; ++d)\n",
               "        total = fma(load(", p.x, "[(n * Index(", inputs_of(g.axes),
               ") + x) * Index(", g.channels, ") + c / Index(", width, ") * Index(", depth,
               ") + d]), load(", p.filter, "[(k * Index(", depth, ") + d) * Index(", g.outputs,
               ") + c]), total);\n    }\n") +
          store_total(dtype, p.y));
}

Source write_conv_grad_input(const Node& node) {
  const auto p = arguments<ops::ConvGradInputOperands>(node);
  const ops::ConvGeometry g = ops::conv_geometry(node);
  const int64_t depth = g.channels / g.groups, width = g.outputs / g.groups;
  const DType dtype = node.type().dtype;
  return element_kernel(
      node,
      split("x", inputs_of(g.axes), g.channels) + total_of(dtype) +
          text("    for (Index k = 0; k < ", window_of(g.axes), "; ++k) {\n", find_output(g.axes),
               "      if (!inside) continue;\n      const Index first = c / Index(", depth,
               ") * Index(", width, ");\n      for (Index m = first; m < first + ", width,
               "; ++m)\n        total = fma(load(", p.dy, "[(n * Index(", outputs_of(g.axes),
               ") + o) * Index(", g.outputs, ") + m]), load(", p.filter, "[(k * Index(", depth,
               ") + c % Index(", depth, ")) * Index(", g.outputs, ") + m]), total);\n    }\n") +
          store_total(dtype, p.dx));
}

// One block per element of the filter: its threads share the batch and the positions.
Source write_conv_grad_filter(const Node& node) {
  const auto p = arguments<ops::ConvGradFilterOperands>(node);
  const ops::ConvGeometry g = ops::conv_geometry(node);
  const int64_t depth = g.channels / g.groups, width = g.outputs / g.groups;
  const DType dtype = node.type().dtype;
  const int64_t count = node.type().shape.count(), places = g.batch * outputs_of(g.axes);
  Source source;
  source.name = node.name();
  source.code =
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
               "      if (inside) total = fma(load(", p.x, "[(n * Index(", inputs_of(g.axes),
               ") + x) * Index(", g.channels, ") + m / Index(", width, ") * Index(", depth,
               ") + d]), load(", p.dy, "[at * Index(", g.outputs, ") + m]), total);\n  }\n",
               "  total = combine<scalar::Add, ", block_size,
               ", 1>(total, shared, threadIdx.x, 0);\n", "  if (threadIdx.x == 0) ", p.dfilter,
               "[blockIdx.x] = ", storage_type(dtype), "(total);\n"));
  if (count > 0) source.launches = {{"kernel", static_cast<unsigned>(count)}};
  return source;
}

// How many channels a thread does at a time: as many as 16 bytes hold, where all tensors allow it.
int64_t channels_together(const Node& node, int64_t channels) {
  const auto width = static_cast<int64_t>(16 / size_of(node.type().dtype));
  const auto fits = [&](const Type& type) {
    return alignment_of(type) >= static_cast<uint32_t>(width) * size_of(type.dtype);
  };
  bool all = channels % width == 0;
  for (const Value& input : node.inputs()) all = all && fits(input.type());
  for (const Type& type : node.types()) all = all && fits(type);
  return all ? width : 1;
}

std::string pack(DType dtype, int64_t width) {
  return text("Pack<", storage_type(dtype), ", ", width, ">");
}
std::string load_pack(DType dtype, int64_t width, Argument from, const std::string& at) {
  return text("*reinterpret_cast<const ", pack(dtype, width), "*>(", from, " + ", at, ")");
}
std::string store_pack(DType dtype, int64_t width, Argument to, const std::string& at,
                       const std::string& value) {
  return text("*reinterpret_cast<", pack(dtype, width), "*>(", to, " + ", at, ") = ", value, ";\n");
}

// The spatial outputs whose windows have the spatial input `x` under them, in order: runs `body`
// with the output `o` and the element `k` of its window.
std::string for_each_window(const WindowAxes& a, const std::string& body) {
  std::string code = "    { const Index o0 = 0, k0 = 0;\n", close = "    }\n";
  for (size_t axis = 0; axis < a.size(); ++axis) {
    const ops::WindowAxis& w = a[axis];
    const std::string n = std::to_string(axis), next = std::to_string(axis + 1);
    code +=
        text("    const Index at", n, " = ", coordinate(inputs(a), axis, "x"), " + Index(", w.low,
             ");\n    for (Index w", n, " = max(at", n, " - Index(", w.extent() - 1, ") + Index(",
             w.stride - 1, "), Index(0)) / Index(", w.stride, "); w", n, " < Index(", w.output,
             ") && w", n, " * Index(", w.stride, ") <= at", n, "; ++w", n,
             ") {\n      const Index off", n, " = at", n, " - w", n, " * Index(", w.stride,
             ");\n      if (off", n, " % Index(", w.dilation, ") != 0) continue;\n",
             "      const Index o", next, " = o", n, " * Index(", w.output, ") + w", n, ", k", next,
             " = k", n, " * Index(", w.window, ") + off", n, " / Index(", w.dilation, ");\n");
    close = "    }\n" + close;
  }
  return text(code, "      const Index o = o3, k = k3;\n", body, close);
}

Source write_max_pool(const Node& node) {
  const auto p = arguments<ops::MaxPoolOperands>(node);
  const ops::PoolGeometry g = ops::pool_geometry(node);
  const int64_t width = channels_together(node, g.channels);
  const DType dtype = node.type().dtype, where = node.type(1).dtype;
  const std::string at = text("i * Index(", width, ")");
  return element_kernel(
      node, node.type().shape.count() / width,
      text(split("o", outputs_of(g.axes), g.channels / width), "    ", pack(dtype, width),
           " best;\n    ", pack(where, width), " where;\n    bool found = false;\n",
           "#pragma unroll\n    for (Index k = 0; k < ", window_of(g.axes), "; ++k) {\n",
           find_input(g.axes), "      if (!inside) continue;\n      const auto next = ",
           load_pack(dtype, width, p.x,
                     text("((n * Index(", inputs_of(g.axes), ") + x) * Index(", g.channels / width,
                          ") + c) * Index(", width, ")")),
           ";\n#pragma unroll\n      for (int e = 0; e < ", width, "; ++e) {\n",
           "        const auto known = load(best.items[e]), now = load(next.items[e]);\n",
           "        if (found && !(known == known && (now > known || now != now))) continue;\n",
           "        best.items[e] = next.items[e];\n        where.items[e] = ", storage_type(where),
           "(k);\n      }\n      found = true;\n    }\n    if (", p.y, " != nullptr) ",
           store_pack(dtype, width, p.y, at, "best"), "    if (", p.where, " != nullptr) ",
           store_pack(where, width, p.where, at, "where")));
}

Source write_max_unpool(const Node& node) {
  const auto p = arguments<ops::MaxUnpoolOperands>(node);
  const ops::PoolGeometry g = ops::pool_geometry(node);
  const int64_t width = channels_together(node, g.channels);
  const DType dtype = node.type().dtype, where = node.in(1).dtype();
  const std::string from = text("((n * Index(", outputs_of(g.axes), ") + o) * Index(",
                                g.channels / width, ") + c) * Index(", width, ")");
  return element_kernel(
      node, node.type().shape.count() / width,
      text(split("x", inputs_of(g.axes), g.channels / width), "    ", compute_type(dtype),
           " total[", width, "] = {};\n",
           for_each_window(
               g.axes,
               text("      const auto where = ", load_pack(where, width, p.where, from),
                    ";\n      const auto dy = ", load_pack(dtype, width, p.dy, from),
                    ";\n#pragma unroll\n      for (int e = 0; e < ", width,
                    "; ++e) if (Index(where.items[e]) == k) total[e] += load(dy.items[e]);\n")),
           "    ", pack(dtype, width), " dx;\n#pragma unroll\n    for (int e = 0; e < ", width,
           "; ++e) dx.items[e] = ", storage_type(dtype), "(total[e]);\n    ",
           store_pack(dtype, width, p.dx, text("i * Index(", width, ")"), "dx")));
}

Source write_max_repool(const Node& node) {
  const auto p = arguments<ops::MaxRepoolOperands>(node);
  const ops::PoolGeometry g = ops::pool_geometry(node);
  const DType dtype = node.type().dtype;
  return element_kernel(
      node, split("o", outputs_of(g.axes), g.channels) + total_of(dtype) +
                text("    const Index k = Index(", p.where, "[i]);\n    {\n", find_input(g.axes),
                     "      if (inside) total = load(", p.x, "[(n * Index(", inputs_of(g.axes),
                     ") + x) * Index(", g.channels, ") + c]);\n    }\n") +
                store_total(dtype, p.y));
}

Source write_avg_pool(const Node& node) {
  const auto p = arguments<UnaryOperands>(node);
  const ops::PoolGeometry g = ops::pool_geometry(node);
  const DType dtype = node.type().dtype;
  return element_kernel(
      node, split("o", outputs_of(g.axes), g.channels) + total_of(dtype) +
                text("    Index count = 0;\n    for (Index k = 0; k < ", window_of(g.axes),
                     "; ++k) {\n", find_input(g.axes),
                     "      if (!inside) continue;\n      ++count;\n      total += load(", p.x,
                     "[(n * Index(", inputs_of(g.axes), ") + x) * Index(", g.channels,
                     ") + c]);\n    }\n", "    total /= count;\n") +
                store_total(dtype, p.y));
}

Source write_avg_pool_grad(const Node& node) {
  const auto p = arguments<UnaryOperands>(node);
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
                     count, "      total += load(", p.x, "[(n * Index(", outputs_of(g.axes),
                     ") + o) * Index(", g.channels, ") + c]) / count;\n    }\n") +
                store_total(dtype, p.y));
}

}  // namespace

extern const CudaKernel conv_kernel = source_kernel<write_conv>(
    {.name = "convolution by output element", .ops = {&ops::conv_op}},
    {"%x: f16[2,6,7,4], %w: f16[3,3,2,6]",
     "%y = conv(%x, %w) {strides = [2, 1], groups = 2, padding = \"same\"}"});
extern const CudaKernel conv_grad_input_kernel = source_kernel<write_conv_grad_input>(
    {.name = "conv_grad_input by input element", .ops = {&ops::conv_grad_input_op}},
    {"%dy: f16[2,3,7,6], %w: f16[3,3,2,6]",
     "%y = conv_grad_input(%dy, %w) {strides = [2, 1], groups = 2, padding = \"same\", sizes = [6, "
     "7]}"});
extern const CudaKernel conv_grad_filter_kernel = source_kernel<write_conv_grad_filter>(
    {.name = "conv_grad_filter by filter element", .ops = {&ops::conv_grad_filter_op}},
    {"%x: f16[2,6,7,4], %dy: f16[2,3,7,6]",
     "%y = conv_grad_filter(%x, %dy) {strides = [2, 1], groups = 2, padding = \"same\", sizes = "
     "[3, 3]}"});
extern const CudaKernel max_pool_kernel = source_kernel<write_max_pool>(
    {.name = "max_pool", .ops = {&ops::max_pool_op}},
    {"%x: f32[2,6,7,4]", "%y, %where = max_pool(%x) {window = [2, 2]}"});
extern const CudaKernel max_unpool_kernel = source_kernel<write_max_unpool>(
    {.name = "max_unpool", .ops = {&ops::max_unpool_op}},
    {"%dy: f32[2,3,3,4], %where: u8[2,3,3,4]",
     "%y = max_unpool(%dy, %where) {window = [2, 2], sizes = [6, 7]}"});
extern const CudaKernel max_repool_kernel = source_kernel<write_max_repool>(
    {.name = "max_repool", .ops = {&ops::max_repool_op}},
    {"%x: f32[2,6,7,4], %where: u8[2,3,3,4]", "%y = max_repool(%x, %where) {window = [2, 2]}"});
extern const CudaKernel avg_pool_kernel = source_kernel<write_avg_pool>(
    {.name = "avg_pool", .ops = {&ops::avg_pool_op}},
    {"%x: f32[2,6,7,4]",
     "%y = avg_pool(%x) {window = [3, 3], strides = [2, 2], padding = \"same\"}"});
extern const CudaKernel avg_pool_grad_kernel = source_kernel<write_avg_pool_grad>(
    {.name = "avg_pool_grad", .ops = {&ops::avg_pool_grad_op}},
    {"%dy: f32[2,3,3,4]", "%y = avg_pool_grad(%dy) {window = [2, 2], sizes = [6, 7]}"});

}  // namespace keratin::cuda
