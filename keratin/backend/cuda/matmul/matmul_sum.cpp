#include <algorithm>
#include <array>

#include "keratin/backend/cuda/driver/autotune.h"
#include "keratin/backend/cuda/driver/kernel_cache.h"
#include "keratin/backend/cuda/loops/loop.h"
#include "keratin/backend/cuda/matmul/matmul.h"
#include "keratin/backend/cuda/step.h"
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

constexpr const char *one_by_one = "product, then sum", *at_once = "cublasLt";

// The ways to make both; `alone` is the product's kernel.
std::vector<Way> ways_of(const Node& node, const Product& product,
                         const std::shared_ptr<const Kernel>& alone, bool tf32) {
  return {{one_by_one,
           [&node, &product, alone] {
             return std::make_unique<ProductThenSum>(node, alone, place_of_summed(node, product));
           }},
          {at_once, [&node, &product, tf32] { return make_cublas(node, product, tf32); }}};
}

// A sum beside the product is as good as one after it: both are one step only where the library is
// faster than that, with products as they are by default.
bool is_faster_at_once(const Node& node, const Product& product) {
  const KernelOptions options;
  const std::shared_ptr<const Kernel> alone = make_product(node, product.alone(), options);
  return alone != nullptr &&
         name_of_fastest(node, text_of(product.shape, node.type().dtype, options.tf32),
                         ways_of(node, product, alone, options.tf32)) == at_once;
}

}  // namespace

// Where nothing is kept no way is timed.
bool claims_summed(const Node& node) {
  const auto product = read_summed(node);
  const DType dtype = node.type().dtype;
  if (!product || !cublas::available() || !KernelCache::of_user().keeps()) return false;
  const GemmShape& s = product->shape;
  return s.is_worth_timing() && Gemm::is_possible(node.device(), s, dtype) &&
         Gemm::is_possible(node.device(), product->alone().shape, dtype) &&
         is_faster_at_once(node, *product);
}

std::unique_ptr<Kernel> make_summed(const Node& node, const KernelOptions& options) {
  const auto product = read_summed(node);
  if (!product || !cublas::available()) return nullptr;
  // Made before, for it may have ways of its own to be timed.
  const std::shared_ptr<const Kernel> alone = make_product(node, product->alone(), options);
  if (alone == nullptr) return nullptr;
  const std::vector<Way> ways = ways_of(node, *product, alone, options.tf32);
  if (options.deterministic) return ways.front().make();
  return fastest(node, text_of(product->shape, node.type().dtype, options.tf32), ways);
}

}  // namespace keratin::cuda
