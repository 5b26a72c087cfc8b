#include "keratin/backend/cuda/matmul/matmul.h"

#include "keratin/backend/cuda/driver/autotune.h"
#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/backend/cuda/families.h"
#include "keratin/backend/cuda/step.h"
#include "keratin/base/text.h"
#include "keratin/ops/matmul.h"
#include "keratin/plan/preparation.h"

namespace keratin::cuda {

namespace {

// Bits as cuBLASLt wants them, one for each element that is positive.
Source make_bits(const Node& node, const Product& product) {
  const int64_t columns = product.shape.columns, stride = product.shape.bits_of_row();
  const size_t scratch = node.input_count() + node.output_count();
  Source source = element_kernel(
      node, product.shape.rows * stride,
      text("    const Index c = i % Index(", stride, "), r = i / Index(", stride,
           ");\n    const bool on = c < Index(", columns, ") && load(p", *product.gate,
           "[r * Index(", columns, ") + c]) > 0;\n    const unsigned bits = ",
           "__ballot_sync(~0u, on);\n    if (c % 32 == 0) reinterpret_cast<unsigned*>(p", scratch,
           ")[i / 32] = bits;\n"));
  source.scratch_bytes = static_cast<size_t>(product.shape.rows * stride / 8);
  return source;
}

// bᵀ, of which more algorithms take several numbers at once.
Source make_turned(const Node& node, const Product& product) {
  const int64_t rows = product.shape.depth, columns = product.shape.columns;
  const size_t scratch = node.input_count() + node.output_count();
  const DType dtype = node.type().dtype;
  Source source = element_kernel(
      node, rows * columns,
      text("    reinterpret_cast<", storage_type(dtype), "*>(p", scratch, ")[i] = p", product.b,
           "[i % Index(", rows, ") * Index(", columns, ") + i / Index(", rows, ")];\n"));
  source.scratch_bytes = static_cast<size_t>(rows * columns) * size_of(dtype);
  return source;
}

// What a product is given beside its factors, made from one input: bits of what forward gave, which
// is there long before the gradient, or a weight that is transposed.
class ProductPreparation final : public Preparation {
 public:
  ProductPreparation(const Node& node, const Product& product)
      : input_(product.gate ? *product.gate : product.b),
        name_(product.gate ? "cuda bits of what is positive" : "cuda factor, transposed"),
        step_(make_step(node,
                        product.gate ? make_bits(node, product) : make_turned(node, product))) {}

  std::string describe() const override { return name_; }
  size_t scratch_bytes() const override { return step_->scratch_bytes(); }
  Launch bind(Pointers p) const override { return step_->bind(p); }
  bool reads(size_t input) const override { return input == input_; }

 private:
  const size_t input_;
  const char* const name_;
  const std::unique_ptr<Kernel> step_;
};

class CublasStep final : public PreparedKernel {
 public:
  CublasStep(const Node& node, const Product& product, bool tf32)
      : node_(node),
        product_(product),
        output_(node.input_count()),
        scratch_(output_ + node.output_count()),
        gemm_(node.device(), product.shape, node.type().dtype, tf32) {}

  std::string describe() const override {
    const GemmShape& s = product_.shape;
    return text("cuda cublasLt matmul ", s.batch, " x ", s.rows, " x ", s.depth, " x ", s.columns,
                s.bias ? " + bias" : "", s.addend ? " + addend" : "", s.relu ? ", relu" : "",
                s.relu_grad ? ", gradient of relu" : "", s.sum != GemmSum::none ? ", sums" : "",
                product_.turns_b ? ", by a transposed factor" : "");
  }
  std::unique_ptr<Preparation> preparation() const override {
    if (!product_.gate && !product_.turns_b) return nullptr;
    return std::make_unique<ProductPreparation>(node_, product_);
  }
  size_t scratch_bytes() const override { return gemm_.scratch_bytes(); }
  bool in_place(size_t input, size_t output) const override {
    return output == 0 && product_.addend == input && input != product_.a && input != product_.b;
  }
  Launch bind(Pointers p) const override {
    const bool with_sums = product_.shape.sum != GemmSum::none;
    return [this, p, with_sums, operation = gemm_.make_operation()] {
      gemm_.run(operation, {.a = p[product_.a],
                            .b = p[product_.turns_b ? scratch_ + 1 : product_.b],
                            .out = p[output_],
                            .scratch = p[scratch_],
                            .bias = product_.bias ? p[*product_.bias] : nullptr,
                            .addend = product_.addend ? p[*product_.addend] : nullptr,
                            .bits = product_.gate ? p[scratch_ + 1] : nullptr,
                            .sums = with_sums ? p[output_ + 1] : nullptr});
    };
  }

 private:
  const Node& node_;
  const Product product_;
  const size_t output_, scratch_;
  const Gemm gemm_;
};

// A product, and what the library cannot do with it.
class ProductAndLoop final : public PreparedKernel {
 public:
  ProductAndLoop(const Node& node, const Product& product, bool tf32)
      : product_(node, product, tf32), rest_(make_step(node, make_loop_after(node))) {}

  std::string describe() const override {
    return text(product_.describe(), ", and ", rest_->describe());
  }
  std::unique_ptr<Preparation> preparation() const override { return product_.preparation(); }
  size_t scratch_bytes() const override { return product_.scratch_bytes(); }
  Launch bind(Pointers p) const override {
    return [product = product_.bind(p), rest = rest_->bind(p)] {
      product();
      rest();
    };
  }

 private:
  const CublasStep product_;
  const std::unique_ptr<Kernel> rest_;
};

std::unique_ptr<Kernel> by_library(const Node& node, const Product& product, bool tf32) {
  if (product.goes_on) return std::make_unique<ProductAndLoop>(node, product, tf32);
  return std::make_unique<CublasStep>(node, product, tf32);
}

// Weights that stay may be transposed once: Hopper's units for TF32 want both factors with the
// numbers that are added up side by side.
bool may_turn_b(const Node& node, const Product& product, const KernelOptions& options) {
  const GemmShape& s = product.shape;
  constexpr int64_t least_weights = int64_t{1} << 16;
  return options.tf32 && node.type().dtype == DType::f32 && !s.transpose_b && s.batch == 1 &&
         !product.gate && s.rows > 1 && s.depth * s.columns >= least_weights && options.is_stable &&
         options.is_stable(node.in(product.b));
}

// The ways to make a product, the library's first.
std::vector<Way> ways_of(const Node& node, const Product& product, const KernelOptions& options) {
  std::vector<Way> ways;
  const auto add = [&](const char* name, const Product& way) {
    ways.push_back({name, [&, way] { return make_cublas(node, way, options.tf32); }});
  };
  add("cublasLt", product);
  if (may_turn_b(node, product, options)) {
    Product turned = product;
    turned.turns_b = turned.shape.transpose_b = true;
    turned.shape.alignment_b = 64;
    add("transposed", turned);
  }
  if (!product.goes_on && is_thin(product, node.type().dtype) && product.shape.is_worth_timing())
    ways.push_back({"thin", [&] { return make_step(node, make_thin_product(node, product)); }});
  if (options.tf32 && fits_tiles(product, node.type().dtype))
    for (const Tiling& tiling : tilings_of(product, gpu(node.device()).has_clusters()))
      ways.push_back({name_of(tiling), [&node, &product, tiling] {
                        return make_step(node, make_tiled_product(node, product, tiling));
                      }});
  return ways;
}

// An epilogue that the library does, or one that a kernel of our own may do.
std::optional<Product> read_fused(const Node& node) {
  if (!cublas::available()) return {};
  const auto known = read_epilogue(node);
  if (known && Gemm::is_possible(node.device(), known->shape, node.type().dtype)) return known;
  const auto any = read_any_epilogue(node);
  return any && fits_tiles(*any, node.type().dtype) ? any : std::nullopt;
}

}  // namespace

std::unique_ptr<Kernel> make_cublas(const Node& node, const Product& product, bool tf32) {
  try {
    return by_library(node, product, tf32);
  } catch (const BackendError&) {
    return nullptr;
  }
}

std::unique_ptr<Kernel> make_product(const Node& node, const Product& product,
                                     const KernelOptions& options) {
  if (options.deterministic) return by_library(node, product, options.tf32);
  const std::vector<Way> ways = ways_of(node, product, options);
  if (ways.size() == 1) return by_library(node, product, options.tf32);
  std::string key = text_of(product.shape, node.type().dtype, options.tf32);
  if (product.goes_on) key += make_loop_after(node).text;
  return fastest(node, key, ways);
}

std::unique_ptr<Kernel> make_matmul(const Node& node, const KernelOptions& options) {
  const auto product = read_product(node);
  if (!product || !cublas::available()) return nullptr;
  try {
    return make_product(node, *product, options);
  } catch (const BackendError&) {
    return nullptr;  // it knows no such product; make_matmul_text does
  }
}

bool claims_epilogue(const Node& node) { return read_fused(node).has_value(); }

std::unique_ptr<Kernel> make_epilogue(const Node& node, const KernelOptions& options) {
  const auto product = read_fused(node);
  return product ? make_product(node, *product, options) : nullptr;
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
