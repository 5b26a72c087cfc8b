#include "keratin/backend/cuda/matmul.h"

#include "keratin/backend/cuda/families.h"
#include "keratin/backend/cuda/product.h"
#include "keratin/ops/matmul.h"

namespace keratin::cuda {

namespace {

class CublasStep final : public Kernel {
 public:
  CublasStep(const Node& node, const Product& product, bool tf32)
      : product_(product),
        output_(node.input_count()),
        gemm_(node.device(), product.shape, node.type().dtype, tf32) {}

  std::string describe() const override {
    const GemmShape& s = product_.shape;
    return text("cuda cublasLt matmul ", s.batch, " x ", s.rows, " x ", s.depth, " x ", s.columns,
                s.bias ? " + bias" : "", s.addend ? " + addend" : "", s.relu ? ", relu" : "");
  }
  size_t scratch_bytes() const override { return gemm_.scratch_bytes(); }
  bool in_place(size_t input, size_t) const override {
    return product_.addend == input && input != product_.a && input != product_.b;
  }
  Launch bind(Pointers p) const override {
    return [this, p, operation = gemm_.make_operation()] {
      gemm_.run(operation, {.a = p[product_.a],
                            .b = p[product_.b],
                            .out = p[output_],
                            .scratch = p[output_ + 1],
                            .bias = product_.bias ? p[*product_.bias] : nullptr,
                            .addend = product_.addend ? p[*product_.addend] : nullptr});
    };
  }

 private:
  const Product product_;
  const size_t output_;
  const Gemm gemm_;
};

}  // namespace

std::unique_ptr<Kernel> make_matmul(const Node& node, const KernelOptions& options) {
  const auto product = read_product(node);
  if (!product || !cublas::available()) return nullptr;
  try {
    return std::make_unique<CublasStep>(node, *product, options.tf32);
  } catch (const BackendError&) {
    return nullptr;  // it knows no such product; make_matmul_text does
  }
}

bool claims_epilogue(const Node& node) {
  const auto product = read_epilogue(node);
  return product && cublas::available() &&
         Gemm::is_possible(node.device(), product->shape, node.type().dtype);
}

std::unique_ptr<Kernel> make_epilogue(const Node& node, const KernelOptions& options) {
  const auto product = read_epilogue(node);
  if (!product || !cublas::available()) return nullptr;
  return std::make_unique<CublasStep>(node, *product, options.tf32);
}

// One thread per element.
Source make_matmul_text(const Node& node) {
  const MatmulSizes p(node);
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
