#include "keratin/backend/cpu/reduce.h"

#include <algorithm>

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/kernel_table.h"
#include "keratin/backend/cpu/kernels.h"
#include "keratin/base/text.h"
#include "keratin/ops/reduce.h"

namespace keratin::cpu {
namespace {

using Reduce = ByDType<void (*)(const ReduceArgs&)> ReduceKernels::*;
using ArgReduce = ByDType<void (*)(const ArgReduceArgs&)> ReduceKernels::*;

// One reduction over the middle of three axes.
struct Stage {
  int64_t outer, axis, inner;
  int64_t count() const { return outer * inner; }
};

// Neighbouring axes that are reduced together are one, so a few stages do, last axes first.
std::vector<Stage> stages_of(const Shape& input, const Dims& axes) {
  struct Group {
    int64_t size;
    bool reduced;
  };
  std::vector<Group> groups;
  for (int64_t axis = 0; axis < input.rank(); ++axis) {
    const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (!groups.empty() && groups.back().reduced == reduced) {
      groups.back().size *= input[axis];
    } else if (input[axis] != 1) {
      groups.push_back({input[axis], reduced});
    }
  }
  std::vector<Stage> stages;
  int64_t inner = 1;
  for (size_t g = groups.size(); g-- > 0;) {
    if (!groups[g].reduced) {
      inner *= groups[g].size;
      continue;
    }
    int64_t outer = 1;
    for (size_t before = 0; before < g; ++before) outer *= groups[before].size;
    stages.push_back({outer, groups[g].size, inner});
  }
  // Reducing nothing, or axes of size 1, is a stage that copies.
  if (stages.empty()) stages.push_back({input.count(), 1, 1});
  return stages;
}

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Stages write to two places in turn, the last one to the output. Halves with several stages are
// reduced as floats, so that the results between stages are not rounded.
class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(std::string what, Reduce reduce, DType dtype, std::vector<Stage> stages, int threads)
      : what_(std::move(what)),
        dtype_(dtype),
        widened_(size_of(dtype) == 2 && stages.size() > 1),
        stages_(std::move(stages)),
        threads_(threads) {
    run_ = (kernels().reduce.*reduce)[work_dtype()];
    const auto bytes = static_cast<int64_t>(size_of(work_dtype()));
    if (widened_) wide_bytes_ = aligned(input_count() * bytes);
    for (const Stage& s : stages_) {
      between_bytes_ = std::max(between_bytes_, aligned(s.count() * bytes));
      partial_bytes_ = std::max(partial_bytes_, reduce_scratch(s.outer, s.axis, s.inner));
    }
    if (stages_.size() == 1) between_bytes_ = 0;
  }

  std::string describe() const override { return what_; }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(wide_bytes_ + 2 * between_bytes_ + partial_bytes_);
  }
  Launch bind(Pointers p) const override {
    return [this, p] { run(p[0], p[1], static_cast<std::byte*>(p[2])); };
  }

 private:
  DType work_dtype() const { return widened_ ? DType::f32 : dtype_; }
  int64_t input_count() const { return stages_[0].outer * stages_[0].axis * stages_[0].inner; }

  void run(const void* x, void* y, std::byte* scratch) const {
    std::byte* const between = scratch + wide_bytes_;
    std::byte* const partial = between + 2 * between_bytes_;
    const auto& convert = kernels().convert.convert;
    if (widened_) {
      convert[static_cast<size_t>(dtype_)][DType::f32]({x, scratch, input_count(), threads_});
      x = scratch;
    }
    for (size_t i = 0; i < stages_.size(); ++i) {
      const bool last = i + 1 == stages_.size() && !widened_;
      void* const to = last ? y : between + (i % 2 != 0 ? between_bytes_ : 0);
      const Stage& s = stages_[i];
      run_({x, to, s.outer, s.axis, s.inner, partial, threads_});
      x = to;
    }
    if (widened_) {
      convert[static_cast<size_t>(DType::f32)][dtype_]({x, y, stages_.back().count(), threads_});
    }
  }

  std::string what_;
  DType dtype_;
  bool widened_;
  std::vector<Stage> stages_;
  int threads_;
  void (*run_)(const ReduceArgs&);
  int64_t wide_bytes_ = 0, between_bytes_ = 0, partial_bytes_ = 0;
};

Offer make_reduce(const Node& node, Reduce reduce, const KernelOptions& options) {
  const DType dtype = node.in().dtype();
  if ((kernels().reduce.*reduce)[dtype] == nullptr) return refuse("no reduction of ", dtype);
  return {.kernel = std::make_unique<ReduceKernel>(
              text("reduce ", node.in().shape()), reduce, dtype,
              stages_of(node.in().shape(), node.attr<ops::ReduceAttrs>().axes), options.threads)};
}

Offer make_arg_reduce(const Node& node, ArgReduce reduce, const KernelOptions& options) {
  const auto kernel = (kernels().reduce.*reduce)[node.in().dtype()];
  if (kernel == nullptr) return refuse("no positions of ", node.in().dtype());
  const Shape& shape = node.in().shape();
  const int64_t axis = node.attr<ops::ArgAttrs>().axis;
  const Stage s{shape.count(0, axis), shape[axis], shape.count(axis + 1, shape.rank())};
  return offer_call(text("arg reduce ", shape), [=, threads = options.threads](Pointers p) {
    kernel({p[0], p[1], s.outer, s.axis, s.inner, sizeof(int64_t), threads});
  });
}

}  // namespace

Offer make_sum(const Node& node, const KernelOptions& options) {
  return make_reduce(node, &ReduceKernels::sum, options);
}
Offer make_prod(const Node& node, const KernelOptions& options) {
  return make_reduce(node, &ReduceKernels::prod, options);
}
Offer make_max(const Node& node, const KernelOptions& options) {
  return make_reduce(node, &ReduceKernels::max, options);
}
Offer make_min(const Node& node, const KernelOptions& options) {
  return make_reduce(node, &ReduceKernels::min, options);
}
Offer make_argmax(const Node& node, const KernelOptions& options) {
  return make_arg_reduce(node, &ReduceKernels::argmax, options);
}
Offer make_argmin(const Node& node, const KernelOptions& options) {
  return make_arg_reduce(node, &ReduceKernels::argmin, options);
}

}  // namespace keratin::cpu
