#include "keratin/backend/cuda/matmul/fused_matmul.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/records.h"

// The matmul that takes every node, and what libraries read: see kernels/simple_matmul.cu.
namespace keratin::cuda {

std::string define_matmul(const MatmulShape& s) {
  const auto flag = [](bool on) { return on ? ", true" : ", false"; };
  return text(include_of("simple_matmul.cu"), "constexpr simple::Sizes sizes = {", s.rows, ", ",
              s.columns, ", ", s.depth, flag(s.transpose_a), flag(s.transpose_b), "};\n");
}

Source write_bits(const Node& node, const MatmulJob& job) {
  const int64_t columns = job.shape.columns, stride = job.shape.bits_of_row();
  Source source = element_kernel(
      node, job.shape.rows * stride,
      {include_of("simple_matmul.cu"), text("simple::positive_bits<", columns, ", ", stride, ">"),
       text("p", *job.gate, ", reinterpret_cast<unsigned*>(", scratch_argument(node), ")")});
  source.scratch_bytes = static_cast<size_t>(job.shape.rows * stride / 8);
  return source;
}

Source write_transposed(const Node& node, const MatmulJob& job) {
  const int64_t rows = job.shape.depth, columns = job.shape.columns;
  const DType dtype = node.type().dtype;
  Source source = element_kernel(
      node, rows * columns,
      {include_of("simple_matmul.cu"), text("simple::transpose<", rows, ", ", columns, ">"),
       text("p", job.b, ", reinterpret_cast<", storage_type(dtype), "*>(", scratch_argument(node),
            ")")});
  source.scratch_bytes = static_cast<size_t>(rows * columns) * size_of(dtype);
  return source;
}

namespace {

Source write_plain_matmul(const Node& node) {
  const auto p = arguments<BinaryOperands>(node);
  const MatmulSizes s(node);
  const auto batch_of = [&](const Shape& batch) {
    const Dims strides = broadcast_strides(batch, s.batch_shape);
    return text("[&](Index batch) { return ", affine(s.batch_shape.dims(), strides, 0, "batch"),
                "; }");
  };
  return element_kernel(node, node.type().shape.count(),
                        {define_matmul({.rows = s.rows,
                                        .columns = s.columns,
                                        .depth = s.depth,
                                        .transpose_a = s.ta,
                                        .transpose_b = s.tb}),
                         "simple::by_element<sizes>",
                         text(p.a, ", ", p.b, ", ", p.y, ",\n      ", batch_of(s.batch_a),
                              ",\n      ", batch_of(s.batch_b))});
}

}  // namespace

extern const CudaKernel plain_matmul_kernel = source_kernel<write_plain_matmul>(
    {.name = "matmul by output element", .ops = {&ops::matmul_op}},
    {"%a: f32[5,1,3,4], %b: f32[2,4,6]", "%y = matmul(%a, %b)"});

}  // namespace keratin::cuda
