#include "keratin/backend/cuda/conv_cudnn.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "keratin/backend/cuda/cudnn_conv.h"
#include "keratin/backend/cuda/gemm.h"
#include "keratin/backend/cuda/gpu.h"
#include "keratin/backend/cuda/step.h"

namespace keratin::cuda {

namespace {

constexpr size_t most_compiled = 3;

class CudnnStep final : public Kernel {
 public:
  CudnnStep(const ConvJob& job, CudnnConv conv, const ConvTexts& texts, std::string name)
      : job_(job),
        conv_(std::move(conv)),
        name_(std::move(name)),
        filter_bytes_(texts.filter_bytes),
        image_bytes_(texts.image_bytes),
        shift_bytes_(texts.shift_bytes),
        before_(make_step(job.node, texts.before)),
        after_(make_step(job.node, texts.after)) {}

  std::string describe() const override {
    return text("cuda ", job_.conv.name(), job_.epilogue ? ", epilogue, " : ", ", name_);
  }
  size_t scratch_bytes() const override {
    return filter_bytes_ + image_bytes_ + shift_bytes_ + conv_.workspace_bytes();
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
    auto* const filter = static_cast<std::byte*>(p[job_.scratch()]);
    std::byte* const image = filter + filter_bytes_;
    std::byte* const shift = image + image_bytes_;
    conv_.run({.x = image_bytes_ > 0 ? image : p[job_.x],
               .w = filter,
               .y = p[job_.y],
               .shift = shift,
               .added = job_.epilogue && job_.epilogue->added ? p[*job_.epilogue->added] : nullptr,
               .workspace = shift + shift_bytes_});
  }

  const ConvJob job_;
  const CudnnConv conv_;
  const std::string name_;
  const size_t filter_bytes_, image_bytes_, shift_bytes_;
  const std::unique_ptr<Kernel> before_, after_;
};

// Is relu of no number no number? Not all engines think so. The first input is none, and so must be
// the first place of the output; all else may be anything.
bool lets_nan_through(const ConvJob& job, const Kernel& kernel) {
  Queue queue(job.node.device());
  queue.enter();
  std::vector<void*> pointers;
  for (size_t place = 0; place < job.scratch(); ++place)
    pointers.push_back(queue.allocate(bytes_of(job.type_of(place))));
  pointers.push_back(queue.allocate(kernel.scratch_bytes()));
  const std::array<uint8_t, 4> nan = {0xff, 0xff, 0xff, 0xff};
  queue.upload(pointers[job.x], nan.data(), size_of(job.dtype()));
  kernel.bind(pointers.data())();
  Tensor first(job.dtype(), {1});
  queue.download(first.raw(), pointers[job.y], first.bytes());
  queue.finish();
  return std::isnan(first.at(0));
}

void add_ways(CudnnWays& to, const ConvJob& job, const KernelOptions& options,
              const CudnnShape& shape, const std::string& variant, bool fused) {
  const auto alignment = [&](size_t place) {
    return std::min<int64_t>(alignment_of(job.type_of(place)), 16);
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
  const auto found = std::make_shared<CudnnConvWays>(problem);
  const auto texts = std::make_shared<ConvTexts>(conv_texts(job, shape, fused));
  to.key += text_of(problem) + '\n';
  std::vector<Way> compiled;
  for (size_t way = 0; way < found->count(); ++way) {
    const std::string name = text("cudnn ", way, variant, fused ? " fused" : "");
    const auto make = [job, found, texts, way, name, fused]() -> std::unique_ptr<Kernel> {
      gpu(job.node.device()).enter();
      try {
        std::optional<CudnnConv> conv = found->make(way);
        if (!conv) return nullptr;
        auto step = std::make_unique<CudnnStep>(job, *std::move(conv), *texts, name);
        if (fused && job.epilogue->relu && !lets_nan_through(job, *step)) return nullptr;
        return step;
      } catch (const BackendError&) {
        return nullptr;  // it can be described, but not done
      }
    };
    (found->compiles(way) ? compiled : to.ways).push_back({name, make});
  }
  // Those take long to make.
  compiled.resize(std::min(compiled.size(), most_compiled));
  to.ways.insert(to.ways.end(), compiled.begin(), compiled.end());
}

}  // namespace

CudnnWays cudnn_ways(const ConvJob& job, const KernelOptions& options) {
  CudnnWays found;
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
        add_ways(found, job, options, *shape, variant, fused);
      } catch (const BackendError&) {
        // A convolution that the library cannot even describe.
      }
    }
  return found;
}

}  // namespace keratin::cuda
