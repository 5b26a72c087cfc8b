#include <algorithm>

#include "keratin/backend/cuda/matmul/fused_matmul.h"
#include "keratin/base/text.h"

// Matmuls with one short side, such as the last layer of a classifier, by kernels/simple_matmul.cu:
// the tiles of libraries would be nearly empty, and a second kernel would join their partial sums.
namespace keratin::cuda {

namespace {

constexpr int64_t max_depth = 32, max_columns = 16, warp = 32;

// The epilogue of an element, as a function of its row and column.
std::string write_finished(const Node& node, const MatmulJob& job) {
  const MatmulShape& s = job.shape;
  const std::string at = text("[r * Index(", s.columns, ") + c]");
  std::string value = "total";
  if (s.bias) value += text(" + load(p", *job.bias, "[c])");
  if (s.addend) value += text(" + load(p", *job.addend, at, ")");
  if (s.relu) value = text("scalar::Relu{}(", value, ")");
  if (s.relu_grad) value = text("load(p", *job.gate, at, ") > 0 ? ", value, " : 0");
  return text("[&](", compute_type(node.type().dtype), " total, Index r, Index c) { return ", value,
              "; }");
}

}  // namespace

bool is_thin(const MatmulJob& job, DType dtype) {
  const MatmulShape& s = job.shape;
  return dtype != DType::f64 && s.batch == 1 && (s.depth <= max_depth || s.columns <= max_columns);
}

Source write_thin_matmul(const Node& node, const MatmulJob& job) {
  const MatmulShape& s = job.shape;
  const std::string operands = text("p", job.a, ", p", job.b, ", p", node.input_count(),
                                    ",\n      ", write_finished(node, job));
  Source source;
  if (s.depth <= max_depth) {
    source = element_kernel(node, s.rows * s.columns,
                            {define_matmul(s), "simple::shallow<sizes>", operands});
  } else {
    constexpr int64_t rows = block_size / warp;  // of a block
    source.code = text(define_matmul(s), "using Index = ", index_type(node), ";\n");
    source.code +=
        function(node, source, "kernel", text("  simple::narrow<sizes, Index>(", operands, ");\n"));
    source.launches = {{"kernel", static_cast<unsigned>((s.rows + rows - 1) / rows)}};
  }
  source.name = text("thin matmul ", s.rows, " x ", s.depth, " x ", s.columns);
  return source;
}

}  // namespace keratin::cuda
