#include "keratin/backend/cuda/movement/line.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/cumulative.h"
#include "keratin/ops/random_operands.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"

// Ops that walk along one axis (kernels/lines.cu), and random numbers (kernels/random.cu).
namespace keratin::cuda {

namespace {

Source cumulate(const Node& node, const char* functor) {
  const auto [x, y] = arguments<UnaryOperands>(node);
  const auto& attrs = node.attr<ops::CumulativeAttrs>();
  const Line line(node.type().shape, attrs.axis);
  const auto flag = [](bool on) { return on ? ", true" : ", false"; };
  return element_kernel(node, line.outer * line.inner,
                        {line.define(),
                         text("lines::cumulate<layout, scalar::", functor, flag(attrs.exclusive),
                              flag(attrs.reverse), ">"),
                         text(x, ", ", y)});
}

Source arg_extremum(const Node& node, bool largest) {
  const auto [x, y] = arguments<UnaryOperands>(node);
  const Line line(node.in().shape(), node.attr<ops::ArgAttrs>().axis);
  return element_kernel(
      node, node.type().shape.count(),
      {line.define(), text("lines::arg_extremum<layout, ", largest ? "true" : "false", ">"),
       text(x, ", ", y)});
}

Source write_cumsum(const Node& node) { return cumulate(node, "Add"); }
Source write_cumprod(const Node& node) { return cumulate(node, "Mul"); }
Source write_argmax(const Node& node) { return arg_extremum(node, true); }
Source write_argmin(const Node& node) { return arg_extremum(node, false); }

Source write_random_bits(const Node& node) {
  const auto [key, y] = arguments<ops::RandomBitsOperands>(node);
  const int64_t count = node.type().shape.count();
  return element_kernel(
      node, (count + 3) / 4,
      {include_of("random.cu"), text("random::bits<", count, ">"), text(key, ", ", y)});
}

}  // namespace

extern const CudaKernel cumsum_kernel =
    source_kernel<write_cumsum>({.name = "cumsum", .ops = {&ops::cumsum_op}},
                                {"%x: f32[3,4,5]", "%y = cumsum(%x) {axis = 1, exclusive = true}"});
extern const CudaKernel cumprod_kernel =
    source_kernel<write_cumprod>({.name = "cumprod", .ops = {&ops::cumprod_op}},
                                 {"%x: f32[3,4,5]", "%y = cumprod(%x) {axis = 2, reverse = true}"});
extern const CudaKernel argmax_kernel =
    source_kernel<write_argmax>({.name = "argmax", .ops = {&ops::argmax_op}},
                                {"%x: bf16[3,4,5]", "%y = argmax(%x) {axis = 1}"});
extern const CudaKernel argmin_kernel =
    source_kernel<write_argmin>({.name = "argmin", .ops = {&ops::argmin_op}},
                                {"%x: bf16[3,4,5]", "%y = argmin(%x) {axis = 1}"});
extern const CudaKernel random_bits_kernel =
    source_kernel<write_random_bits>({.name = "random_bits", .ops = {&ops::random_bits_op}},
                                     {"%key: i64[2]", "%y = random_bits(%key) {shape = [7]}"});

}  // namespace keratin::cuda
