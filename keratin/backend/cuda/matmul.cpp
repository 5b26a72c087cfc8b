#include "keratin/backend/cuda/matmul.h"

#include "keratin/backend/cuda/families.h"
#include "keratin/backend/cuda/gemm.h"
#include "keratin/ops/matmul.h"

namespace keratin::cuda {

namespace {

struct Product {
  int64_t batch = 1, rows, columns, depth;
  bool ta, tb;
  Shape batch_shape, batch_a, batch_b;

  explicit Product(const Node& node) {
    const auto& attrs = node.attr<ops::MatmulAttrs>();
    ta = attrs.transpose_a;
    tb = attrs.transpose_b;
    const Shape &a = node.in(0).shape(), &b = node.in(1).shape(), &out = node.type().shape;
    rows = out[out.rank() - 2];
    columns = out[out.rank() - 1];
    depth = a[a.rank() - (ta ? 2 : 1)];
    const auto front = [](const Shape& s) { return Shape(std::span(s.begin(), s.end() - 2)); };
    batch_shape = front(out);
    batch_a = front(a);
    batch_b = front(b);
    batch = batch_shape.count();
  }
};

class CublasStep final : public Kernel {
 public:
  CublasStep(const Node& node, const GemmShape& shape, bool tf32)
      : shape_(shape), gemm_(node.device(), shape, node.type().dtype, tf32) {}

  std::string describe() const override {
    return text("cuda cublasLt matmul ", shape_.batch, " x ", shape_.rows, " x ", shape_.depth,
                " x ", shape_.columns);
  }
  size_t scratch_bytes() const override { return gemm_.scratch_bytes(); }
  Launch bind(Pointers p) const override {
    return [this, p] { gemm_.run(p[0], p[1], p[2], p[3]); };
  }

 private:
  const GemmShape shape_;
  const Gemm gemm_;
};

}  // namespace

std::unique_ptr<Kernel> make_matmul(const Node& node, const KernelOptions& options) {
  const Product p(node);
  const auto whole = [&](const Shape& batch) {
    return batch.count() == 1 || batch.count() == p.batch;
  };
  if (!is_float(node.type().dtype) || !whole(p.batch_a) || !whole(p.batch_b)) return nullptr;
  if (p.batch == 0 || p.rows == 0 || p.columns == 0 || p.depth == 0) return nullptr;
  if (!cublas::available()) return nullptr;
  const GemmShape shape{.rows = p.rows,
                        .columns = p.columns,
                        .depth = p.depth,
                        .transpose_a = p.ta,
                        .transpose_b = p.tb,
                        .batch = p.batch,
                        .stride_a = p.batch_a.count() == 1 ? 0 : p.rows * p.depth,
                        .stride_b = p.batch_b.count() == 1 ? 0 : p.depth * p.columns,
                        .alignment_a = alignment_of(node.in(0).type()),
                        .alignment_b = alignment_of(node.in(1).type()),
                        .alignment_out = alignment_of(node.type())};
  return std::make_unique<CublasStep>(node, shape, options.tf32);
}

// One thread per element.
Source make_matmul_text(const Node& node) {
  const Product p(node);
  const DType dtype = node.type().dtype;
  const auto base = [&](const Shape& batch, int64_t size) {
    return text(affine(p.batch_shape.dims(), broadcast_strides(batch, p.batch_shape), 0, "batch"),
                " * Index(", size, ")");
  };
  const int64_t columns = std::max<int64_t>(p.columns, 1), rows = std::max<int64_t>(p.rows, 1);
  return element_kernel(
      node,
      text("    const Index n = i % Index(", columns, "), m = i / Index(", columns, ") % Index(",
           rows, "), batch = i / Index(", columns * rows, ");\n    const ", storage_type(dtype),
           "* a = p0 + ", base(p.batch_a, p.rows * p.depth), ";\n    const ", storage_type(dtype),
           "* b = p1 + ", base(p.batch_b, p.depth * p.columns), ";\n    ", compute_type(dtype),
           " total = 0;\n    for (Index k = 0; k < ", p.depth,
           "; ++k)\n      total = scalar::Add{}(total, scalar::Mul{}(load(a[",
           p.ta ? text("k * Index(", p.rows, ") + m") : text("m * Index(", p.depth, ") + k"),
           "]), load(b[",
           p.tb ? text("n * Index(", p.depth, ") + k") : text("k * Index(", p.columns, ") + n"),
           "])));\n    p2[i] = ", storage_type(dtype), "(total);\n"));
}

}  // namespace keratin::cuda
