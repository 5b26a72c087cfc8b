#include "keratin/backend/cuda/matmul/matmul.h"

#include "keratin/backend/cuda/driver/autotune.h"
#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/records.h"
#include "keratin/plan/preparation.h"
#include "keratin/plan/view.h"

namespace keratin::cuda {

namespace {

// What cuBLASLt reads besides the factors, made from one input: the bit mask of what forward gave,
// long before the gradient is there, or a transposed weight.
class MatmulPreparation final : public Preparation {
 public:
  MatmulPreparation(const Node& node, const MatmulJob& job)
      : input_(job.gate ? *job.gate : job.b),
        name_(job.gate ? "cuda bits of what is positive" : "cuda factor, transposed"),
        step_(
            compile_kernel(node, job.gate ? write_bits(node, job) : write_transposed(node, job))) {}

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
  CublasStep(const Node& node, const MatmulJob& job, bool tf32)
      : node_(node), job_(job), matmul_(node.device(), job.shape, node.type().dtype, tf32) {}

  std::string describe() const override {
    const MatmulShape& s = job_.shape;
    return text("cuda cublasLt matmul ", s.batch, " x ", s.rows, " x ", s.depth, " x ", s.columns,
                s.bias ? " + bias" : "", s.addend ? " + addend" : "", s.relu ? ", relu" : "",
                s.relu_grad ? ", gradient of relu" : "", s.sum != MatmulSum::none ? ", sums" : "",
                job_.transposes_b ? ", by a transposed factor" : "");
  }
  std::unique_ptr<Preparation> preparation() const override {
    if (!job_.gate && !job_.transposes_b) return nullptr;
    return std::make_unique<MatmulPreparation>(node_, job_);
  }
  size_t scratch_bytes() const override { return matmul_.scratch_bytes(); }
  bool in_place(size_t input, size_t output) const override {
    return output == 0 && job_.addend == input && input != job_.a && input != job_.b;
  }
  Launch bind(Pointers p) const override {
    const bool with_sums = job_.shape.sum != MatmulSum::none;
    const Pointers out = output_slot(node_, p, 0), sums = output_slot(node_, p, 1),
                   scratch = scratch_slot(node_, p), prepared = prepared_slot(node_, p);
    return [=, this, operation = matmul_.make_operation()] {
      matmul_.run(operation, {.a = p[job_.a],
                              .b = job_.transposes_b ? *prepared : p[job_.b],
                              .out = *out,
                              .scratch = *scratch,
                              .bias = job_.bias ? p[*job_.bias] : nullptr,
                              .addend = job_.addend ? p[*job_.addend] : nullptr,
                              .bits = job_.gate ? *prepared : nullptr,
                              .sums = with_sums ? *sums : nullptr});
    };
  }

 private:
  const Node& node_;
  const MatmulJob job_;
  const CublasMatmul matmul_;
};

// A matmul by the library, then a loop for what the library cannot compute with it.
class MatmulThenLoop final : public PreparedKernel {
 public:
  MatmulThenLoop(const Node& node, const MatmulJob& job, bool tf32)
      : matmul_(node, job, tf32), loop_(compile_kernel(node, write_loop_after(node))) {}

  std::string describe() const override {
    return text(matmul_.describe(), ", and ", loop_->describe());
  }
  std::unique_ptr<Preparation> preparation() const override { return matmul_.preparation(); }
  size_t scratch_bytes() const override { return matmul_.scratch_bytes(); }
  Launch bind(Pointers p) const override {
    return [matmul = matmul_.bind(p), loop = loop_->bind(p)] {
      matmul();
      loop();
    };
  }

 private:
  const CublasStep matmul_;
  const std::unique_ptr<Kernel> loop_;
};

std::unique_ptr<Kernel> by_library(const Node& node, const MatmulJob& job, bool tf32) {
  if (job.needs_loop) return std::make_unique<MatmulThenLoop>(node, job, tf32);
  return std::make_unique<CublasStep>(node, job, tf32);
}

// Stable weights may be transposed once: Hopper's TF32 units read both factors with the numbers
// that are added up side by side.
bool may_transpose_b(const Node& node, const MatmulJob& job, const KernelOptions& options) {
  const MatmulShape& s = job.shape;
  constexpr int64_t min_weights = int64_t{1} << 16;
  return options.tf32 && node.type().dtype == DType::f32 && !s.transpose_b && s.batch == 1 &&
         !job.gate && s.rows > 1 && s.depth * s.columns >= min_weights && options.is_stable &&
         options.is_stable(node.in(job.b));
}

// The candidates for a matmul, the library's first.
std::vector<Candidate> matmul_candidates(const Node& node, const MatmulJob& job,
                                         const KernelOptions& options) {
  std::vector<Candidate> candidates;
  const auto add_cublas = [&](const char* name, const MatmulJob& variant) {
    candidates.push_back(
        {name, [&node, variant, tf32 = options.tf32] { return make_cublas(node, variant, tf32); }});
  };
  add_cublas("cublasLt", job);
  if (may_transpose_b(node, job, options)) {
    MatmulJob transposed = job;
    transposed.transposes_b = transposed.shape.transpose_b = true;
    transposed.shape.alignment_b = 64;
    add_cublas("transposed", transposed);
  }
  if (!job.needs_loop && is_thin(job, node.type().dtype) && job.shape.is_worth_timing())
    candidates.push_back(
        {"thin", [&] { return compile_kernel(node, write_thin_matmul(node, job)); }});
  if (options.tf32 && fits_tiles(job, node.type().dtype))
    for (const Tiling& tiling : tilings_of(job, gpu(node.device()).has_clusters()))
      candidates.push_back({name_of(tiling), [&node, &job, tiling] {
                              return compile_kernel(node, write_tiled_matmul(node, job, tiling));
                            }});
  return candidates;
}

constexpr const char* no_cublas = "cuBLASLt is not installed";

std::optional<std::string> refuses_cublas_matmul(const Node& node) {
  if (!cublas::available()) return no_cublas;
  return refuses_matmul(node);
}

Offer make_cublas_matmul(const Node& node, const KernelOptions& options) {
  try {
    if (auto kernel = make_fastest_matmul(node, *read_matmul(node), options))
      return {.kernel = std::move(kernel)};
  } catch (const BackendError& error) {
    return refuse(error.what());
  }
  return refuse("no candidate could be made");
}

// A fused matmul that the library computes as a whole, or that a kernel of our own may.
std::optional<MatmulJob> read_fused_matmul(const Node& node) {
  const auto whole = read_epilogue(node);
  if (whole && CublasMatmul::is_possible(node.device(), whole->shape, node.type().dtype))
    return whole;
  const auto any = read_any_epilogue(node);
  return any && fits_tiles(*any, node.type().dtype) ? any : std::nullopt;
}

std::optional<std::string> refuses_fused_matmul(const Node& node) {
  if (!cublas::available()) return no_cublas;
  if (read_fused_matmul(node)) return std::nullopt;
  return "not a matmul with an epilogue that cuBLASLt or a kernel in tiles computes";
}

}  // namespace

std::unique_ptr<Kernel> make_cublas(const Node& node, const MatmulJob& job, bool tf32) {
  try {
    return by_library(node, job, tf32);
  } catch (const BackendError&) {
    return nullptr;
  }
}

std::unique_ptr<Kernel> make_fastest_matmul(const Node& node, const MatmulJob& job,
                                            const KernelOptions& options) {
  if (options.deterministic) return by_library(node, job, options.tf32);
  const std::vector<Candidate> candidates = matmul_candidates(node, job, options);
  if (candidates.size() == 1) return by_library(node, job, options.tf32);
  std::string key = text_of(job.shape, node.type().dtype, options.tf32);
  if (job.needs_loop) key += write_loop_after(node).code;
  return fastest(node, key, candidates);
}

Offer make_fused_matmul(const Node& node, const KernelOptions& options) {
  if (auto kernel = make_fastest_matmul(node, *read_fused_matmul(node), options))
    return {.kernel = std::move(kernel)};
  return refuse("no candidate could be made");
}

// Above the kernel of our own: where its layouts do not reach (integers, batches that are broadcast
// in part), the latter runs.
extern const CudaKernel cublas_matmul_kernel{{.name = "matmul by cuBLASLt",
                                              .ops = {&ops::matmul_op},
                                              .refuses = refuses_cublas_matmul,
                                              .make = make_cublas_matmul}};
extern const CudaKernel fused_matmul_kernel{{.name = "matmul with its epilogue",
                                             .ops = {&ops::fused_op},
                                             .refuses = refuses_fused_matmul,
                                             .make = make_fused_matmul}};

}  // namespace keratin::cuda
