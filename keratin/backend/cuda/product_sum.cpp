#include <algorithm>
#include <array>

#include "keratin/backend/cuda/kernel_cache.h"
#include "keratin/backend/cuda/loop.h"
#include "keratin/backend/cuda/matmul.h"
#include "keratin/backend/cuda/step.h"
#include "keratin/backend/cuda/tuning.h"
#include "keratin/plan/preparation.h"

// Products that make the gradient of a bias beside.
namespace keratin::cuda {

namespace {

// The kernel of a sum, after that of the product.
class ProductThenSum final : public PreparedKernel {
 public:
  ProductThenSum(const Node& node, std::shared_ptr<const Kernel> product, size_t summed)
      : product_(std::move(product)),
        sum_(make_sum(node.region().results[1].node())),
        summed_(summed),
        output_(node.input_count()) {}

  std::string describe() const override { return product_->describe() + ", then its sums"; }
  std::unique_ptr<Preparation> preparation() const override {
    const auto* prepared = dynamic_cast<const PreparedKernel*>(product_.get());
    return prepared == nullptr ? nullptr : prepared->preparation();
  }
  size_t scratch_bytes() const override {
    return std::max(product_->scratch_bytes(), sum_->scratch_bytes());
  }
  bool in_place(size_t input, size_t output) const override {
    return output == 0 && input != summed_ && product_->in_place(input, output);
  }
  Launch bind(Pointers p) const override {
    // The sum has pointers of its own: what it reads, what it gives, and scratch memory.
    const auto own = std::make_shared<std::array<void*, 3>>();
    return [this, p, own, product = product_->bind(p), sum = sum_->bind(own->data())] {
      product();
      *own = {p[summed_], p[output_ + 1], p[output_ + 2]};
      sum();
    };
  }

 private:
  static std::unique_ptr<Kernel> make_sum(const Node& sum) {
    return make_step(sum, make_loop(sum));
  }

  const std::shared_ptr<const Kernel> product_;
  const std::unique_ptr<Kernel> sum_;
  const size_t summed_, output_;
};

// Where the numbers are that are summed, among the pointers of the node.
size_t place_of_summed(const Node& node, const Product& product) {
  switch (product.shape.sum) {
    case GemmSum::of_a:
      return product.a;
    case GemmSum::of_b:
      return product.b;
    default:
      return node.input_count();
  }
}

}  // namespace

// Where nothing is kept no way is timed, and the sum would come after the product: as a step of its
// own it may run beside.
bool claims_summed(const Node& node) {
  const auto product = read_summed(node);
  const DType dtype = node.type().dtype;
  return product && cublas::available() && KernelCache::of_user().keeps() &&
         Gemm::is_possible(node.device(), product->shape, dtype) &&
         Gemm::is_possible(node.device(), product->alone().shape, dtype);
}

std::unique_ptr<Kernel> make_summed(const Node& node, const KernelOptions& options) {
  const auto product = read_summed(node);
  if (!product || !cublas::available()) return nullptr;
  // Made before, for it may have ways of its own to be timed.
  const std::shared_ptr<const Kernel> alone = make_product(node, product->alone(), options);
  if (alone == nullptr) return nullptr;
  const auto one_by_one = [&] {
    return std::make_unique<ProductThenSum>(node, alone, place_of_summed(node, *product));
  };
  if (options.deterministic) return one_by_one();
  return fastest(node, text_of(product->shape, node.type().dtype, options.tf32),
                 {{"product, then sum", one_by_one},
                  {"cublasLt", [&] { return make_cublas(node, *product, options.tf32); }}});
}

}  // namespace keratin::cuda
