#include <algorithm>

#include "keratin/backend/cuda/matmul/fused_matmul.h"
#include "keratin/base/text.h"

// Matmuls with one short side, such as the last layer of a classifier: the tiles of libraries would
// be nearly empty, and a second kernel would join their partial sums.
namespace keratin::cuda {

namespace {

constexpr int64_t max_depth = 32, max_columns = 16, warp = 32;

struct Thin {
  const Node& node;
  const MatmulJob& job;
  const MatmulShape& s = job.shape;
  const DType dtype = node.type().dtype;
  const std::string_view storage = storage_type(dtype), compute = compute_type(dtype);

  std::string a() const {
    return text("load(p", job.a,
                s.transpose_a ? text("[k * Index(", s.rows, ") + r])")
                              : text("[r * Index(", s.depth, ") + k])"));
  }
  std::string b() const {
    return text("load(p", job.b,
                s.transpose_b ? text("[c * Index(", s.depth, ") + k])")
                              : text("[k * Index(", s.columns, ") + c])"));
  }
  // Stores `total`, after the epilogue, as the element of row r and column c.
  std::string store() const {
    const std::string at = text("[r * Index(", s.columns, ") + c]");
    std::string value = "total";
    if (s.bias) value += text(" + load(p", *job.bias, "[c])");
    if (s.addend) value += text(" + load(p", *job.addend, at, ")");
    if (s.relu) value = text("scalar::Relu{}(", value, ")");
    if (s.relu_grad)
      value = text("load(p", *job.gate, at, ") > 0 ? ", value, " : ", compute, "(0)");
    return text("p", node.input_count(), at, " = ", storage, "(", value, ");\n");
  }
};

// One thread per element.
Source write_shallow(const Thin& t) {
  return element_kernel(
      t.node, t.s.rows * t.s.columns,
      text("    const Index c = i % Index(", t.s.columns, "), r = i / Index(", t.s.columns,
           ");\n    ", t.compute, " total = 0;\n#pragma unroll\n    for (Index k = 0; k < ",
           t.s.depth, "; ++k) total = fma(", t.a(), ", ", t.b(), ", total);\n    ", t.store()));
}

// One warp per row: its threads share the sums of all columns.
Source write_narrow(const Thin& t) {
  Source source;
  source.name = t.node.name();
  const int64_t rows_per_block = block_size / warp;
  source.code =
      text("using Index = ", index_type(t.node), ";\n") +
      function(t.node, source, "kernel",
               text("  const Index r = blockIdx.x * Index(", rows_per_block, ") + threadIdx.x / ",
                    warp, ", lane = threadIdx.x % ", warp, ";\n  if (r >= Index(", t.s.rows,
                    ")) return;\n  ", t.compute, " totals[", t.s.columns,
                    "] = {};\n#pragma unroll 4\n  for (Index k = lane; k < Index(", t.s.depth,
                    "); k += ", warp, ") {\n    const ", t.compute, " left = ", t.a(),
                    ";\n#pragma unroll\n    for (Index c = 0; c < ", t.s.columns,
                    "; ++c) totals[c] = fma(left, ", t.b(),
                    ", totals[c]);\n  }\n#pragma unroll\n  for (Index c = 0; c < ", t.s.columns,
                    "; ++c) {\n    ", t.compute,
                    " total = totals[c];\n    for (int half = 16; half > 0; half /= 2) ",
                    "total += __shfl_down_sync(~0u, total, half);\n    if (lane == 0) ", t.store(),
                    "  }\n"));
  source.launches = {
      {"kernel", static_cast<unsigned>((t.s.rows + rows_per_block - 1) / rows_per_block)}};
  return source;
}

}  // namespace

bool is_thin(const MatmulJob& job, DType dtype) {
  const MatmulShape& s = job.shape;
  return dtype != DType::f64 && s.batch == 1 && (s.depth <= max_depth || s.columns <= max_columns);
}

Source write_thin_matmul(const Node& node, const MatmulJob& job) {
  const Thin thin{node, job};
  Source source = job.shape.depth <= max_depth ? write_shallow(thin) : write_narrow(thin);
  const MatmulShape& s = job.shape;
  source.name = text("thin matmul ", s.rows, " x ", s.depth, " x ", s.columns);
  return source;
}

}  // namespace keratin::cuda
