#include <algorithm>
#include <array>

#include "keratin/backend/cuda/driver/autotune.h"
#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/backend/cuda/driver/kernel_cache.h"
#include "keratin/backend/cuda/loops/loop.h"
#include "keratin/backend/cuda/matmul/matmul.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/records.h"
#include "keratin/plan/preparation.h"
#include "keratin/plan/view.h"

// Matmuls that compute the gradient of a bias too.
namespace keratin::cuda {

namespace {

// The kernel of the matmul, then that of the sum.
class MatmulThenSum final : public PreparedKernel {
 public:
  MatmulThenSum(const Node& node, std::shared_ptr<const Kernel> matmul, size_t summed)
      : node_(node),
        matmul_(std::move(matmul)),
        sum_(make_sum(node.region().results[1].node())),
        summed_(summed) {}

  std::string describe() const override { return matmul_->describe() + ", then its sums"; }
  std::unique_ptr<Preparation> preparation() const override {
    const auto* prepared = dynamic_cast<const PreparedKernel*>(matmul_.get());
    return prepared == nullptr ? nullptr : prepared->preparation();
  }
  size_t scratch_bytes() const override {
    return std::max(matmul_->scratch_bytes(), sum_->scratch_bytes());
  }
  bool in_place(size_t input, size_t output) const override {
    return output == 0 && input != summed_ && matmul_->in_place(input, output);
  }
  Launch bind(Pointers p) const override {
    // The sum has pointers of its own: its input, its output, and scratch memory.
    const auto own = std::make_shared<std::array<void*, 3>>();
    return [this, p, own, matmul = matmul_->bind(p), sum = sum_->bind(own->data())] {
      matmul();
      *own = {p[summed_], *output_slot(node_, p, 1), *scratch_slot(node_, p)};
      sum();
    };
  }

 private:
  static std::unique_ptr<Kernel> make_sum(const Node& sum) {
    return compile_kernel(sum, write_loop(sum));
  }

  const Node& node_;
  const std::shared_ptr<const Kernel> matmul_;
  const std::unique_ptr<Kernel> sum_;
  const size_t summed_;
};

// The position of what is summed, among the pointers of the node.
size_t index_of_summed(const Node& node, const MatmulJob& job) {
  switch (job.shape.sum) {
    case MatmulSum::of_a:
      return job.a;
    case MatmulSum::of_b:
      return job.b;
    default:
      return node.input_count();
  }
}

constexpr const char *one_by_one = "matmul, then sum", *at_once = "cublasLt";

// `alone` is the kernel of the matmul without its sum.
std::vector<Candidate> sum_candidates(const Node& node, const MatmulJob& job,
                                      const std::shared_ptr<const Kernel>& alone, bool tf32) {
  return {{one_by_one,
           [&node, &job, alone] {
             return std::make_unique<MatmulThenSum>(node, alone, index_of_summed(node, job));
           }},
          {at_once, [&node, &job, tf32] { return make_cublas(node, job, tf32); }}};
}

std::string key_of(const Node& node, const MatmulJob& job, const KernelOptions& options) {
  return text_of(job.shape, node.type().dtype, options.tf32);
}

// A sum in the matmul's kernel is as good as a kernel after it: both are one step only where the
// library is faster so, with the default options. Found once for each shape.
bool is_faster_at_once(const Node& node, const MatmulJob& job) {
  static std::mutex lock;
  static std::map<std::string, bool> known;
  const KernelOptions options;
  const std::string key = key_of(node, job, options), full = gpu(node.device()).chip() + '\n' + key;
  {
    const std::lock_guard guard(lock);
    if (const auto found = known.find(full); found != known.end()) return found->second;
  }
  const std::shared_ptr<const Kernel> alone = make_fastest_matmul(node, job.alone(), options);
  const bool faster =
      alone != nullptr &&
      name_of_fastest(node, key, sum_candidates(node, job, alone, options.tf32)) == at_once;
  const std::lock_guard guard(lock);
  return known.try_emplace(full, faster).first->second;
}

}  // namespace

std::optional<std::string> refuses_matmul_with_sum(const Node& node) {
  const auto job = read_summed(node);
  const DType dtype = node.type().dtype;
  if (!job) return "not a matmul with a sum that cuBLASLt computes";
  if (!cublas::available()) return "cuBLASLt is not installed";
  if (!KernelCache::of_user().keeps()) return "without a cache, candidates are not timed";
  if (!job->shape.is_worth_timing()) return "the matmul takes no longer than a launch";
  if (!CublasMatmul::is_possible(node.device(), job->shape, dtype) ||
      !CublasMatmul::is_possible(node.device(), job->alone().shape, dtype))
    return "cuBLASLt has no algorithm for it";
  if (!is_faster_at_once(node, *job)) return "a matmul and then a sum are faster";
  return std::nullopt;
}

Offer make_matmul_with_sum(const Node& node, const KernelOptions& options) {
  const auto job = read_summed(node);
  // Made first, for its own candidates may have to be timed.
  const std::shared_ptr<const Kernel> alone = make_fastest_matmul(node, job->alone(), options);
  if (alone == nullptr) return refuse("no candidate could be made for the matmul");
  const std::vector<Candidate> candidates = sum_candidates(node, *job, alone, options.tf32);
  auto kernel = options.deterministic ? candidates.front().make()
                                      : fastest(node, key_of(node, *job, options), candidates);
  if (kernel == nullptr) return refuse("no candidate could be made");
  return {.kernel = std::move(kernel)};
}

extern const CudaKernel matmul_with_sum_kernel{{.name = "matmul with a sum",
                                                .ops = {&ops::fused_op},
                                                .refuses = refuses_matmul_with_sum,
                                                .make = make_matmul_with_sum}};

}  // namespace keratin::cuda
