#include "keratin/ops/indexing.h"

#include "keratin/backend/cuda/movement/index_layout.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/indexing_operands.h"
#include "keratin/ops/records.h"

namespace keratin::cuda {

namespace {

// `along`: each output element has an index of its own.
template <bool along>
Source write_gather(const Node& node) {
  const auto p = arguments<ops::GatherOperands>(node);
  const IndexLayout l(node, along);
  return element_kernel(
      node, node.type().shape.count(),
      {.definitions = text(include_of("gather.cu"), "constexpr gathering::Layout layout = {",
                           l.size, ", ", l.inner, ", ", l.count, "};\n"),
       .function = text("gathering::gather<layout, ", along ? "true" : "false", ">"),
       .operands = text(p.x, ", ", p.indices, ", ", p.y),
       .checks_indices = true});
}

}  // namespace

extern const CudaKernel gather_kernel = source_kernel<write_gather<false>>(
    {.name = "gather", .ops = {&ops::gather_op}},
    {"%x: f32[3,4,5], %indices: i64[2,2]", "%y = gather(%x, %indices) {axis = 1}"});
extern const CudaKernel take_along_axis_kernel = source_kernel<write_gather<true>>(
    {.name = "take_along_axis", .ops = {&ops::take_along_axis_op}},
    {"%x: f32[3,4,5], %indices: i32[3,2,5]", "%y = take_along_axis(%x, %indices) {axis = 1}"});

}  // namespace keratin::cuda
