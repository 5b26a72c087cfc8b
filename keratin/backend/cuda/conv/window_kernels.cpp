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

std::string define_windows(const WindowAxes& axes, const WindowChannels& c) {
  std::string list;
  for (const ops::WindowAxis& a : axes)
    list += text(list.empty() ? "" : ", ", "{", a.input, ", ", a.window, ", ", a.output, ", ",
                 a.stride, ", ", a.dilation, ", ", a.low, "}");
  return text("#include \"keratin/backend/cuda/kernels/windows.cu\"\n",
              "constexpr windows::Layout layout = {{", list, "}, ", c.channels, ", ", c.outputs,
              ", ", c.groups, "};\n");
}

namespace {

// Calls windows::<function>, which has more template arguments, with a count of elements and the
// operands.
Source write_call(const Node& node, const std::string& windows, const std::string& function_name,
                  int64_t count, std::initializer_list<Argument> operands) {
  std::string list;
  for (const Argument& operand : operands) list += text(", ", operand);
  Source source;
  source.name = node.name();
  source.code =
      text(windows, function(node, source, "kernel",
                             text("  windows::", function_name, "(", index_type(node, count), "(",
                                  count, ")", list, ");\n")));
  if (count > 0) source.launches = {{"kernel", blocks_for(count)}};
  return source;
}

std::string windows_of(const ops::ConvGeometry& g) {
  return define_windows(g.axes, {.channels = g.channels, .outputs = g.outputs, .groups = g.groups});
}

Source write_conv(const Node& node) {
  const auto p = arguments<ops::ConvOperands>(node);
  return write_call(node, windows_of(ops::conv_geometry(node)), "conv<layout>",
                    node.type().shape.count(), {p.x, p.filter, p.y});
}

Source write_conv_grad_input(const Node& node) {
  const auto p = arguments<ops::ConvGradInputOperands>(node);
  return write_call(node, windows_of(ops::conv_geometry(node)), "conv_grad_input<layout>",
                    node.type().shape.count(), {p.dy, p.filter, p.dx});
}

// One block per element of the filter.
Source write_conv_grad_filter(const Node& node) {
  const auto p = arguments<ops::ConvGradFilterOperands>(node);
  const ops::ConvGeometry g = ops::conv_geometry(node);
  Source source =
      write_call(node, windows_of(g), text("conv_grad_filter<layout, ", block_size, ">"),
                 g.batch * outputs_of(g.axes), {p.x, p.dy, p.dfilter});
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
  return write_call(node, windows_of(g), text("max_pool<layout, ", width, ">"),
                    node.type().shape.count() / width, {p.x, p.y, p.where});
}

Source write_max_unpool(const Node& node) {
  const auto p = arguments<ops::MaxUnpoolOperands>(node);
  const ops::PoolGeometry g = ops::pool_geometry(node);
  const int64_t width = channels_together(node, g.channels);
  return write_call(node, windows_of(g), text("max_unpool<layout, ", width, ">"),
                    node.type().shape.count() / width, {p.dy, p.where, p.dx});
}

Source write_max_repool(const Node& node) {
  const auto p = arguments<ops::MaxRepoolOperands>(node);
  return write_call(node, windows_of(ops::pool_geometry(node)), "max_repool<layout>",
                    node.type().shape.count(), {p.x, p.where, p.y});
}

Source write_avg_pool(const Node& node) {
  const auto [x, y] = arguments<UnaryOperands>(node);
  return write_call(node, windows_of(ops::pool_geometry(node)), "avg_pool<layout>",
                    node.type().shape.count(), {x, y});
}

Source write_avg_pool_grad(const Node& node) {
  const auto [dy, dx] = arguments<UnaryOperands>(node);
  return write_call(node, windows_of(ops::pool_geometry(node)), "avg_pool_grad<layout>",
                    node.type().shape.count(), {dy, dx});
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
