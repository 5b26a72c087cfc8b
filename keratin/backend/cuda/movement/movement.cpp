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

// out[i] = in[base + Σ coordinate · stride]
Source move(const Node& node, Dims strides, int64_t base = 0) {
  Dims dims = node.type().shape.dims();
  const auto [x, y] = arguments<UnaryOperands>(node);
  const int64_t pack = pack_of(node, strides, base);
  if (pack == 1)
    return element_kernel(
        node, text("    ", y, "[i] = ", x, "[", affine(dims, strides, base, "i"), "];\n"));
  dims.back() /= pack;
  for (size_t axis = 0; axis + 1 < strides.size(); ++axis) strides[axis] /= pack;
  const std::string type = text("Pack<", storage_type(node.type().dtype), ", ", pack, ">");
  return element_kernel(
      node, node.type().shape.count() / pack,
      text("    reinterpret_cast<", type, "*>(", y, ")[i] = reinterpret_cast<const ", type, "*>(",
           x, ")[", affine(dims, strides, base / pack, "i"), "];\n"));
}

// The start of a window along an axis, moved so that the window lies inside.
std::string start_of(Argument start, size_t axis, int64_t room) {
  return text("min(max((long long)", start, "[", axis, "], 0LL), ", room, "LL)");
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

Source write_dynamic_slice(const Node& node) {
  const auto p = arguments<ops::DynamicSliceOperands>(node);
  const Shape &shape = node.in().shape(), &size = node.type().shape;
  const Dims strides = shape.strides();
  std::string position = affine(size.dims(), strides, 0, "i");
  for (int64_t axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] != size[axis])
      position +=
          text(" + Index(", start_of(p.start, static_cast<size_t>(axis), shape[axis] - size[axis]),
               ") * Index(", strides[static_cast<size_t>(axis)], ")");
  return element_kernel(node, text("    ", p.y, "[i] = ", p.x, "[", position, "];\n"));
}

Source write_dynamic_update_slice(const Node& node) {
  const auto p = arguments<ops::DynamicUpdateSliceOperands>(node);
  const Shape &shape = node.type().shape, &size = node.in(1).shape();
  const Dims strides = size.strides();
  std::string body = "    bool inside = true;\n    Index from = 0;\n";
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    const auto a = static_cast<size_t>(axis);
    body += text("    { const Index c = ", coordinate(shape.dims(), a, "i"), " - Index(",
                 start_of(p.start, a, shape[axis] - size[axis]), ");\n",
                 "      inside = inside && c >= 0 && c < Index(", size[axis], ");\n",
                 "      from += c * Index(", strides[a], "); }\n");
  }
  Source source = element_kernel(
      node, text(body, "    ", p.y, "[i] = inside ? ", p.update, "[from] : ", p.x, "[i];\n"));
  source.in_place.elementwise = node.type().shape;
  return source;
}

Source write_pad(const Node& node) {
  const auto [x, y] = arguments<UnaryOperands>(node);
  const auto& attrs = node.attr<ops::PadAttrs>();
  const Shape& shape = node.in().shape();
  const DType dtype = node.type().dtype;
  // Elements that stay neighbours along the last axis are moved as one.
  const bool whole = shape.rank() > 0 && shape.back() == node.type().shape.back() &&
                     attrs.lo.back() == 0 && attrs.interior.back() == 0;
  const int64_t pack = whole ? pack_of(node, shape.strides(), 0) : 1;
  Dims from = shape.dims(), to = node.type().shape.dims();
  if (pack > 1) from.back() /= pack, to.back() /= pack;
  const Dims strides = Shape(from).strides();
  std::string body = "    bool inside = true;\n    Index from = 0;\n";
  for (size_t a = 0; a < from.size(); ++a) {
    const int64_t step = 1 + attrs.interior[a];
    body += text("    { const Index c = ", coordinate(to, a, "i"), " - Index(", attrs.lo[a],
                 ");\n      inside = inside && c >= 0 && c % Index(", step, ") == 0 && c / Index(",
                 step, ") < Index(", from[a], ");\n", "      from += c / Index(", step,
                 ") * Index(", strides[a], "); }\n");
  }
  const std::string type = text("Pack<", storage_type(dtype), ", ", pack, ">");
  return element_kernel(
      node, node.type().shape.count() / pack,
      text(body, "    ", type, " one;\n    for (int e = 0; e < ", pack,
           "; ++e) one.items[e] = convert<", storage_type(dtype), ">(",
           literal(DType::f64, attrs.value), ");\n    reinterpret_cast<", type, "*>(", y,
           ")[i] = inside ? reinterpret_cast<const ", type, "*>(", x, ")[from] : one;\n"));
}

// Each output element finds the input that has its index along the axis.
Source write_concat(const Node& node) {
  const auto p = arguments<JoinOperands>(node);
  const auto axis = node.attr<ops::AxisAttrs>().axis;
  const Shape& shape = node.type().shape;
  const int64_t inner = shape.count(axis + 1, shape.rank()), row = shape[axis] * inner;
  std::string body = text("    const Index o = i / Index(", std::max<int64_t>(row, 1),
                          "), c = i % Index(", std::max<int64_t>(row, 1), ");\n    ");
  int64_t start = 0;
  for (size_t k = 0; k < node.input_count(); ++k) {
    const int64_t size = node.in(k).shape()[axis] * inner;
    if (size == 0) continue;
    body += text("if (c < Index(", start + size, ")) ", p.y, "[i] = ", p.inputs[k], "[o * Index(",
                 size, ") + c - Index(", start, ")];\n    else ");
    start += size;
  }
  return element_kernel(node, body + ";\n");
}

Source write_iota(const Node& node) {
  const auto axis = static_cast<size_t>(node.attr<ops::IotaAttrs>().axis);
  const Argument y = arguments<JoinOperands>(node).y;
  return element_kernel(
      node, text("    ", y, "[i] = convert<", storage_type(node.type().dtype), ">((long long)",
                 coordinate(node.type().shape.dims(), axis, "i"), ");\n"));
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
