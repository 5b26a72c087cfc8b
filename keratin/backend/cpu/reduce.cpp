#include "keratin/ops/reduce.h"

#include <algorithm>

#include "keratin/backend/cpu/align.h"
#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/levels.h"
#include "keratin/backend/cpu/levels/convert.h"
#include "keratin/backend/cpu/levels/reduce.h"
#include "keratin/ops/records.h"

namespace keratin::cpu {
namespace {

using ReduceByDType = ByDType<void (*)(const ReduceArgs&)>;

// One reduction over the middle of three axes.
struct Stage {
  int64_t outer, axis, inner;
  int64_t count() const { return outer * inner; }
};

// Merges neighbouring axes that are reduced together, so that few stages suffice; last axes first.
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

// Stages write to two buffers in turn, the last one to the output. Halves with several stages are
// reduced as floats, so that the results between stages are not rounded.
class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(const Node& node, const ReduceByDType& routines, std::vector<Stage> stages,
               int threads)
      : node_(node),
        dtype_(node.in().dtype()),
        widened_(size_of(dtype_) == 2 && stages.size() > 1),
        stages_(std::move(stages)),
        threads_(threads) {
    run_ = routines[work_dtype()];
    const auto bytes = static_cast<int64_t>(size_of(work_dtype()));
    if (widened_) wide_bytes_ = aligned(input_count() * bytes);
    for (const Stage& s : stages_) {
      between_bytes_ = std::max(between_bytes_, aligned(s.count() * bytes));
      partial_bytes_ = std::max(partial_bytes_, reduce_scratch(s.outer, s.axis, s.inner));
    }
    if (stages_.size() == 1) between_bytes_ = 0;
  }

  std::string describe() const override { return text("reduce ", node_.in().shape()); }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(wide_bytes_ + 2 * between_bytes_ + partial_bytes_);
  }
  Launch bind(Pointers pointers) const override {
    return [this, v = operands<UnaryOperands>(node_, pointers),
            scratch = scratch_slot(node_, pointers)] {
      run(v.x.data(), v.y.data(), static_cast<std::byte*>(*scratch));
    };
  }

 private:
  DType work_dtype() const { return widened_ ? DType::f32 : dtype_; }
  int64_t input_count() const { return stages_[0].outer * stages_[0].axis * stages_[0].inner; }

  void run(const void* x, void* y, std::byte* scratch) const {
    std::byte* const between = scratch + wide_bytes_;
    std::byte* const partial = between + 2 * between_bytes_;
    if (widened_) {
      convert(dtype_, DType::f32,
              {.src = x, .dst = scratch, .count = input_count(), .threads = threads_});
      x = scratch;
    }
    for (size_t i = 0; i < stages_.size(); ++i) {
      const bool last = i + 1 == stages_.size() && !widened_;
      void* const to = last ? y : between + (i % 2 != 0 ? between_bytes_ : 0);
      const Stage& s = stages_[i];
      run_({.x = x,
            .y = to,
            .outer = s.outer,
            .axis = s.axis,
            .inner = s.inner,
            .scratch = partial,
            .threads = threads_});
      x = to;
    }
    if (widened_) {
      convert(DType::f32, dtype_,
              {.src = x, .dst = y, .count = stages_.back().count(), .threads = threads_});
    }
  }
  static void convert(DType from, DType to, const ConvertArgs& args) {
    routines<ConvertRoutines>().convert[static_cast<size_t>(from)][to](args);
  }

  const Node& node_;
  DType dtype_;
  bool widened_;
  std::vector<Stage> stages_;
  int threads_;
  void (*run_)(const ReduceArgs&);
  int64_t wide_bytes_ = 0, between_bytes_ = 0, partial_bytes_ = 0;
};

const ReduceByDType& routines_of(const OpDef& op) {
  const auto& found = routines<ReduceRoutines>();
  if (&op == &ops::sum_op) return found.sum;
  if (&op == &ops::prod_op) return found.prod;
  return &op == &ops::max_op || &op == &ops::any_op ? found.max : found.min;
}

Offer make_reduce(const Node& node, const KernelOptions& options) {
  const auto& found = routines_of(node.op());
  if (found[node.in().dtype()] == nullptr) return refuse("no routine for ", node.in().dtype());
  const Dims& axes = node.attr<ops::ReduceAttrs>().axes;
  return {.kernel = std::make_unique<ReduceKernel>(node, found, stages_of(node.in().shape(), axes),
                                                   options.threads)};
}

Offer make_arg_reduce(const Node& node, const KernelOptions& options) {
  const auto& found = routines<ArgReduceRoutines>();
  const bool largest = &node.op() == &ops::argmax_op;
  const auto routine = (largest ? found.argmax : found.argmin)[node.in().dtype()];
  if (routine == nullptr) return refuse("no routine for ", node.in().dtype());
  const Shape& shape = node.in().shape();
  return offer_call<UnaryOperands>(node, text("arg reduce ", shape),
                                   [routine, s = axis_sizes(shape, node.attr<ops::ArgAttrs>().axis),
                                    threads = options.threads](const auto& v) {
                                     routine({.x = v.x.data(),
                                              .index = v.y.data(),
                                              .outer = s.outer,
                                              .axis = s.axis,
                                              .inner = s.inner,
                                              .index_bytes = sizeof(int64_t),
                                              .threads = threads});
                                   });
}

}  // namespace

extern constinit const KernelDef reduce_kernel{
    .name = "reduction",
    .ops = {&ops::sum_op, &ops::prod_op, &ops::max_op, &ops::min_op, &ops::any_op, &ops::all_op},
    .make = make_reduce,
};
extern constinit const KernelDef arg_reduce_kernel{
    .name = "argmax or argmin",
    .ops = {&ops::argmax_op, &ops::argmin_op},
    .make = make_arg_reduce,
};

}  // namespace keratin::cpu
