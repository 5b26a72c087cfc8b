#include "keratin/ops/movement.h"

#include <algorithm>

#include "keratin/backend/cuda/matmul/cublas_matmul.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing_operands.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/records.h"
#include "keratin/ops/slicing.h"

namespace keratin::cuda {

namespace {

// How many elements can be moved as one, at most 16 bytes: those that stay neighbours.
int64_t pack_of(const Node& node, const Dims& strides, int64_t base) {
  const Dims& dims = node.type().shape.dims();
  if (dims.empty() || strides.back() != 1) return 1;
  const uint32_t alignment =
      std::min({16U, alignment_of(node.in().type()), alignment_of(node.type())});
  int64_t pack = std::max<int64_t>(alignment / static_cast<int64_t>(size_of(node.type().dtype)), 1);
  const auto splits = [&] {
    return std::any_of(strides.begin(), strides.end() - 1,
                       [&](int64_t stride) { return stride % pack != 0; });
  };
  while (dims.back() % pack != 0 || base % pack != 0 || splits()) pack /= 2;
  return pack;
}

// A position in kernels/movement.cu.
std::string positions(const Dims& dims, const Dims& strides, int64_t base = 0) {
  const std::vector<AffineTerm> terms = affine_terms(dims, strides);
  std::string list;
  for (const AffineTerm& t : terms)
    list += text(list.empty() ? "" : ", ", "{", t.inner, ", ", t.size, ", ", t.stride, "}");
  return text("{", base, ", ", terms.size(), ", {", list, "}}");
}

std::string coordinates(const Dims& dims, size_t axis) {
  Dims unit(dims.size(), 0);
  unit[axis] = 1;
  return positions(dims, unit);
}

// A constant that a function of kernels/movement.cu is compiled for.
std::string constant(const char* type, const char* name, const std::string& value) {
  return text("constexpr movement::", type, " ", name, " = ", value, ";\n");
}

// `count` elements by a function of kernels/movement.cu.
Source call_movement(const Node& node, int64_t count, const std::string& constants,
                     const std::string& function, const std::string& operands) {
  return element_kernel(node, count,
                        {.definitions = include_of("movement.cu") + constants,
                         .function = "movement::" + function,
                         .operands = operands});
}

// out[i] = in[base + Σ coordinate · stride]
Source move(const Node& node, Dims strides, int64_t base = 0) {
  Dims dims = node.type().shape.dims();
  const auto [x, y] = arguments<UnaryOperands>(node);
  const int64_t pack = pack_of(node, strides, base);
  if (pack > 1) {
    dims.back() /= pack;
    for (size_t axis = 0; axis + 1 < strides.size(); ++axis) strides[axis] /= pack;
  }
  return call_movement(node, node.type().shape.count() / pack,
                       constant("Positions", "from", positions(dims, strides, base / pack)),
                       text("move<from, ", pack, ">"), text(x, ", ", y));
}

Source write_transpose(const Node& node) {
  const Dims& permutation = node.attr<ops::TransposeAttrs>().permutation;
  const Dims own = node.in().shape().strides();
  Dims strides;
  for (int64_t axis : permutation) strides.push_back(own[static_cast<size_t>(axis)]);
  return move(node, strides);
}

Source write_slice(const Node& node) {
  const auto& attrs = node.attr<ops::SliceAttrs>();
  const Shape& shape = node.in().shape();
  const Dims start = ops::slice_window(attrs, shape).start;
  Dims strides = shape.strides();
  int64_t base = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    base += start[axis] * strides[axis];
    strides[axis] *= attrs.step[axis];
  }
  return move(node, strides, base);
}

Source write_reverse(const Node& node) {
  const Shape& shape = node.in().shape();
  Dims strides = shape.strides();
  int64_t base = 0;
  for (int64_t axis : node.attr<ops::ReverseAttrs>().axes) {
    int64_t& stride = strides[static_cast<size_t>(axis)];
    base += (shape[axis] - 1) * stride;
    stride = -stride;
  }
  return move(node, strides, base);
}

// The windows of a box of these sizes in a larger one, as kernels/movement.cu has them.
std::string windows_of(const Shape& shape, const Shape& size) {
  const Dims strides = size.strides(), outer = shape.strides();
  std::string axes;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    const auto a = static_cast<int64_t>(axis);
    axes += text(axis == 0 ? "" : ", ", "{", coordinates(shape.dims(), axis), ", ", size[a], ", ",
                 shape[a] - size[a], ", ", strides[axis], ", ", outer[axis], "}");
  }
  return text("{", strides.size(), ", {", axes, "}}");
}

Source write_dynamic_slice(const Node& node) {
  const auto p = arguments<ops::DynamicSliceOperands>(node);
  const Shape &shape = node.in().shape(), &size = node.type().shape;
  return call_movement(node, size.count(),
                       constant("Positions", "from", positions(size.dims(), shape.strides())) +
                           constant("Windows", "windows", windows_of(shape, size)),
                       "slice<from, windows>", text(p.x, ", ", p.start, ", ", p.y));
}

Source write_dynamic_update_slice(const Node& node) {
  const auto p = arguments<ops::DynamicUpdateSliceOperands>(node);
  const Shape &shape = node.type().shape, &size = node.in(1).shape();
  Source source =
      call_movement(node, shape.count(), constant("Windows", "windows", windows_of(shape, size)),
                    "update<windows>", text(p.x, ", ", p.update, ", ", p.start, ", ", p.y));
  source.in_place.elementwise = shape;
  return source;
}

Source write_pad(const Node& node) {
  const auto [x, y] = arguments<UnaryOperands>(node);
  const auto& attrs = node.attr<ops::PadAttrs>();
  const Shape& shape = node.in().shape();
  // Elements that stay neighbours along the last axis are moved as one.
  const bool whole = shape.rank() > 0 && shape.back() == node.type().shape.back() &&
                     attrs.lo.back() == 0 && attrs.interior.back() == 0;
  const int64_t pack = whole ? pack_of(node, shape.strides(), 0) : 1;
  Dims from = shape.dims(), to = node.type().shape.dims();
  if (pack > 1) from.back() /= pack, to.back() /= pack;
  const Dims strides = Shape(from).strides();
  std::string axes;
  for (size_t a = 0; a < from.size(); ++a)
    axes += text(a == 0 ? "" : ", ", "{", coordinates(to, a), ", ", attrs.lo[a], ", ",
                 1 + attrs.interior[a], ", ", from[a], ", ", strides[a], "}");
  return call_movement(node, node.type().shape.count() / pack,
                       constant("Padding", "padding", text("{", from.size(), ", {", axes, "}}")),
                       text("pad<padding, ", pack, ">"),
                       text(x, ", ", y, ", ", literal(DType::f64, attrs.value)));
}

Source write_concat(const Node& node) {
  const auto p = arguments<JoinOperands>(node);
  const auto axis = node.attr<ops::AxisAttrs>().axis;
  const Shape& shape = node.type().shape;
  const int64_t inner = shape.count(axis + 1, shape.rank());
  std::string sizes, inputs;
  for (size_t k = 0; k < node.input_count(); ++k) {
    sizes += text(k == 0 ? "" : ", ", node.in(k).shape()[axis] * inner);
    inputs += text(", ", p.inputs[k]);
  }
  return call_movement(node, shape.count(), "", text("concat<", sizes, ">"), text(p.y, inputs));
}

Source write_iota(const Node& node) {
  const auto axis = static_cast<size_t>(node.attr<ops::IotaAttrs>().axis);
  const Shape& shape = node.type().shape;
  return call_movement(node, shape.count(),
                       constant("Positions", "at", coordinates(shape.dims(), axis)), "iota<at>",
                       text(arguments<JoinOperands>(node).y));
}

}  // namespace

extern const CudaKernel transpose_kernel = source_kernel<write_transpose>(
    {.name = "transpose", .ops = {&ops::transpose_op}},
    {"%x: f16[3,4,5]", "%y = transpose(%x) {permutation = [2, 0, 1]}"});
extern const CudaKernel slice_kernel = source_kernel<write_slice>(
    {.name = "slice", .ops = {&ops::slice_op}},
    {"%x: f16[3,4,5]", "%y = slice(%x) {start = [0, 1, 0], limit = [3, 4, 5], step = [1, 2, 1]}"});
extern const CudaKernel reverse_kernel =
    source_kernel<write_reverse>({.name = "reverse", .ops = {&ops::reverse_op}},
                                 {"%x: f16[3,4,5]", "%y = reverse(%x) {axes = [0, 2]}"});
extern const CudaKernel dynamic_slice_kernel = source_kernel<write_dynamic_slice>(
    {.name = "dynamic_slice", .ops = {&ops::dynamic_slice_op}},
    {"%x: f16[3,4,5], %start: i32[3]", "%y = dynamic_slice(%x, %start) {sizes = [1, 2, 3]}"});
extern const CudaKernel dynamic_update_slice_kernel = source_kernel<write_dynamic_update_slice>(
    {.name = "dynamic_update_slice", .ops = {&ops::dynamic_update_slice_op}},
    {"%x: f16[3,4], %update: f16[2,2], %start: i32[2]",
     "%y = dynamic_update_slice(%x, %update, %start)"});
extern const CudaKernel pad_kernel = source_kernel<write_pad>(
    {.name = "pad", .ops = {&ops::pad_op}},
    {"%x: i8[2,3]", "%y = pad(%x) {lo = [1, 0], hi = [0, 2], interior = [0, 1], value = 2}"});
extern const CudaKernel concat_kernel =
    source_kernel<write_concat>({.name = "concat", .ops = {&ops::concat_op}},
                                {"%a: f16[3,4], %b: f16[3,2]", "%y = concat(%a, %b) {axis = 1}"});
extern const CudaKernel iota_kernel =
    source_kernel<write_iota>({.name = "iota", .ops = {&ops::iota_op}},
                              {"", "%y = iota() {dtype = f32, shape = [3,4], axis = 1}"});

}  // namespace keratin::cuda
