#include "keratin/backend/cuda/conv/cudnn_step.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "keratin/backend/cuda/conv/cudnn_engines.h"
#include "keratin/backend/cuda/driver/standalone_step.h"
#include "keratin/backend/cuda/matmul/cublas_matmul.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/plan/preparation.h"
#include "keratin/plan/view.h"

namespace keratin::cuda {

namespace {

constexpr size_t max_compiled = 3;

// The filter in cuDNN's layout, times the scale of an epilogue, and the shift.
class FilterPreparation final : public Preparation {
 public:
  FilterPreparation(const ConvJob& job, const Source& source)
      : job_(job), step_(compile_kernel(job.node, source)) {}

  std::string describe() const override { return text("cuda ", job_.conv.name(), ", its filter"); }
  size_t scratch_bytes() const override { return step_->scratch_bytes(); }
  Launch bind(Pointers p) const override { return step_->bind(p); }
  bool reads(size_t input) const override {
    return input == job_.w || (job_.epilogue && input != job_.x && input != job_.epilogue->added);
  }

 private:
  const ConvJob job_;
  const std::unique_ptr<Kernel> step_;
};

class CudnnStep final : public PreparedKernel {
 public:
  CudnnStep(const ConvJob& job, CudnnConv conv, std::shared_ptr<const ConvSources> sources,
            std::string name)
      : job_(job),
        conv_(std::move(conv)),
        name_(std::move(name)),
        sources_(std::move(sources)),
        before_(compile_kernel(job.node, sources_->before)),
        after_(compile_kernel(job.node, sources_->after)) {}

  std::string describe() const override {
    return text("cuda ", job_.conv.name(), job_.epilogue ? ", epilogue, " : ", ", name_);
  }
  size_t scratch_bytes() const override {
    return sources_->filter_grad + sources_->image + conv_.workspace_bytes();
  }
  std::unique_ptr<Preparation> preparation() const override {
    if (sources_->prepare.launches.empty()) return nullptr;
    return std::make_unique<FilterPreparation>(job_, sources_->prepare);
  }

  Launch bind(Pointers p) const override {
    return [this, p, before = before_->bind(p), after = after_->bind(p)] {
      before();
      launch(p);
      after();
    };
  }

 private:
  void launch(Pointers p) const {
    auto* const filter_grad = static_cast<std::byte*>(*scratch_slot(job_.node, p));
    std::byte* const image = filter_grad + sources_->filter_grad;
    const bool prepared = !sources_->prepare.launches.empty();
    auto* const filter =
        prepared ? static_cast<std::byte*>(*prepared_slot(job_.node, p)) : filter_grad;
    conv_.run({.x = sources_->image > 0 ? image : p[job_.x],
               .w = filter,
               .y = p[job_.y],
               .shift = filter + sources_->prepared_filter,
               .added = job_.epilogue && job_.epilogue->added ? p[*job_.epilogue->added] : nullptr,
               .workspace = image + sources_->image});
  }

  const ConvJob job_;
  const CudnnConv conv_;
  const std::string name_;
  const std::shared_ptr<const ConvSources> sources_;
  const std::unique_ptr<Kernel> before_, after_;
};

// False for engines whose fused ReLU drops NaN. One input is NaN, and so must be an output whose
// window covers it; the rest may be anything.
bool keeps_nan(const ConvJob& job, const Kernel& kernel) {
  const auto seen = first_seen(ops::conv_geometry(job.conv));
  if (!seen) return true;  // windows cover padding alone
  const auto at = [&](void* tensor, int64_t element) {
    return static_cast<std::byte*>(tensor) + static_cast<size_t>(element) * size_of(job.dtype());
  };
  StandaloneStep step(job.node);
  const std::array<uint8_t, 4> nan = {0xff, 0xff, 0xff, 0xff};
  step.queue().upload(at(step.at(job.x), seen->input), nan.data(), size_of(job.dtype()));
  step.bind(kernel)();
  Tensor found(job.dtype(), {1});
  step.queue().download(found.raw(), at(step.at(job.y), seen->output), found.bytes());
  step.queue().finish();
  return std::isnan(found.at(0));
}

void add_candidates(CudnnCandidates& to, const ConvJob& job, const KernelOptions& options,
                    const CudnnShape& shape, const std::string& variant, bool fused) {
  const auto alignment = [&](size_t index) {
    return std::min<int64_t>(alignment_of(job.type_of(index)), 16);
  };
  ConvProblem problem{.kind = job.kind,
                      .dtype = job.dtype(),
                      .tf32 = options.tf32,
                      .g = shape.g,
                      .alignment_x = alignment(job.x),
                      .alignment_y = alignment(job.y)};
  if (fused)
    problem.epilogue = {
        .there = true, .added = job.epilogue->added.has_value(), .relu = job.epilogue->relu};
  const auto found = std::make_shared<CudnnEngines>(problem);
  const auto sources = std::make_shared<ConvSources>(conv_sources(job, shape, fused));
  to.key += text_of(problem) + '\n';
  std::vector<Candidate> compiled;
  for (size_t engine = 0; engine < found->count(); ++engine) {
    const std::string name = text("cudnn ", engine, variant, fused ? " fused" : "");
    const auto make = [job, found, sources, engine, name, fused]() -> std::unique_ptr<Kernel> {
      gpu(job.node.device()).enter();
      try {
        std::optional<CudnnConv> conv = found->make(engine);
        if (!conv) return nullptr;
        auto kernel = std::make_unique<CudnnStep>(job, *std::move(conv), sources, name);
        if (fused && job.epilogue->relu && !keeps_nan(job, *kernel)) return nullptr;
        return kernel;
      } catch (const BackendError&) {
        return nullptr;  // the engine fails
      }
    };
    (found->compiles(engine) ? compiled : to.candidates).push_back({name, make});
  }
  // These take long to make.
  compiled.resize(std::min(compiled.size(), max_compiled));
  to.candidates.insert(to.candidates.end(), compiled.begin(), compiled.end());
}

}  // namespace

std::optional<SeenInput> first_seen(const ops::ConvGeometry& g) {
  SeenInput seen;
  for (const ops::WindowAxis& axis : g.axes) {
    std::optional<SeenInput> here;
    for (int64_t o = 0; o < axis.output && !here; ++o)
      for (int64_t k = 0; k < axis.window && !here; ++k)
        if (const int64_t i = axis.source(o, k); axis.inside(i)) here = {i, o};
    if (!here) return std::nullopt;
    seen = {seen.input * axis.input + here->input, seen.output * axis.output + here->output};
  }
  return SeenInput{seen.input * g.channels, seen.output * g.outputs};
}

CudnnCandidates cudnn_candidates(const ConvJob& job, const KernelOptions& options) {
  CudnnCandidates found;
  if (job.dtype() == DType::f64 || !cudnn::available()) return found;
  gpu(job.node.device()).enter();
  const std::pair<Channels, const char*> variants[] = {{Channels::as_they_are, ""},
                                                       {Channels::more, " with more channels"},
                                                       {Channels::folded, " with strides folded"}};
  for (const bool fused : {true, false})
    for (const auto& [channels, variant] : variants) {
      const auto shape = cudnn_shape(ops::conv_geometry(job.conv), job.dtype(), channels);
      if (!shape || (fused && !job.epilogue)) continue;
      try {
        add_candidates(found, job, options, *shape, variant, fused);
      } catch (const BackendError&) {
        // cuDNN cannot describe this convolution.
      }
    }
  return found;
}

}  // namespace keratin::cuda
