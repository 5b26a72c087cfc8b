#include "keratin/backend/cuda/conv/window_source.h"
#include "keratin/backend/cuda/matmul/cublas_matmul.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/pool.h"
#include "keratin/ops/records.h"
#include "keratin/ops/window_operands.h"

// Convolutions and pooling, straight from their definitions: see kernels/windows.cu.
namespace keratin::cuda {

std::string layout_of(const WindowAxes& axes, const WindowChannels& c) {
  std::string list;
  for (const ops::WindowAxis& a : axes)
    list += text(list.empty() ? "" : ", ", "{", a.input, ", ", a.window, ", ", a.output, ", ",
                 a.stride, ", ", a.dilation, ", ", a.low, "}");
  return text("{{", list, "}, ", c.channels, ", ", c.outputs, ", ", c.groups, "}");
}

std::string define_windows(const WindowAxes& axes, const WindowChannels& channels) {
  return text(include_of("windows.cu"),
              "constexpr windows::Layout layout = ", layout_of(axes, channels), ";\n");
}

namespace {

std::string windows_of(const ops::ConvGeometry& g) {
  return define_windows(g.axes, {.channels = g.channels, .outputs = g.outputs, .groups = g.groups});
}

Source write_conv(const Node& node) {
  const auto p = arguments<ops::ConvOperands>(node);
  return element_kernel(node, node.type().shape.count(),
                        {windows_of(ops::conv_geometry(node)), "windows::conv<layout>",
                         text(p.x, ", ", p.filter, ", ", p.y)});
}

Source write_conv_grad_input(const Node& node) {
  const auto p = arguments<ops::ConvGradInputOperands>(node);
  return element_kernel(node, node.type().shape.count(),
                        {windows_of(ops::conv_geometry(node)), "windows::conv_grad_input<layout>",
                         text(p.dy, ", ", p.filter, ", ", p.dx)});
}

// One block per element of the filter.
Source write_conv_grad_filter(const Node& node) {
  const auto p = arguments<ops::ConvGradFilterOperands>(node);
  const ops::ConvGeometry g = ops::conv_geometry(node);
  Source source =
      element_kernel(node, g.batch * outputs_of(g.axes),
                     {windows_of(g), text("windows::conv_grad_filter<layout, ", block_size, ">"),
                      text(p.x, ", ", p.dy, ", ", p.dfilter)});
  const int64_t elements = node.type().shape.count();
  source.launches.clear();
  if (elements > 0) source.launches = {{"kernel", static_cast<unsigned>(elements)}};
  return source;
}

// The channels that a thread computes at a time: as many as 16 bytes hold, if all tensors allow it.
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

std::string windows_of(const ops::PoolGeometry& g) {
  return define_windows(g.axes, {.channels = g.channels, .outputs = g.channels});
}

Source write_max_pool(const Node& node) {
  const auto p = arguments<ops::MaxPoolOperands>(node);
  const ops::PoolGeometry g = ops::pool_geometry(node);
  const int64_t width = channels_together(node, g.channels);
  return element_kernel(node, node.type().shape.count() / width,
                        {windows_of(g), text("windows::max_pool<layout, ", width, ">"),
                         text(p.x, ", ", p.y, ", ", p.where)});
}

Source write_max_unpool(const Node& node) {
  const auto p = arguments<ops::MaxUnpoolOperands>(node);
  const ops::PoolGeometry g = ops::pool_geometry(node);
  const int64_t width = channels_together(node, g.channels);
  return element_kernel(node, node.type().shape.count() / width,
                        {windows_of(g), text("windows::max_unpool<layout, ", width, ">"),
                         text(p.dy, ", ", p.where, ", ", p.dx)});
}

Source write_max_repool(const Node& node) {
  const auto p = arguments<ops::MaxRepoolOperands>(node);
  return element_kernel(node, node.type().shape.count(),
                        {windows_of(ops::pool_geometry(node)), "windows::max_repool<layout>",
                         text(p.x, ", ", p.where, ", ", p.y)});
}

Source write_avg_pool(const Node& node) {
  const auto [x, y] = arguments<UnaryOperands>(node);
  return element_kernel(
      node, node.type().shape.count(),
      {windows_of(ops::pool_geometry(node)), "windows::avg_pool<layout>", text(x, ", ", y)});
}

Source write_avg_pool_grad(const Node& node) {
  const auto [dy, dx] = arguments<UnaryOperands>(node);
  return element_kernel(
      node, node.type().shape.count(),
      {windows_of(ops::pool_geometry(node)), "windows::avg_pool_grad<layout>", text(dy, ", ", dx)});
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
