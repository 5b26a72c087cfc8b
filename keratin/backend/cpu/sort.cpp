#include "keratin/ops/sort.h"

#include "keratin/backend/cpu/align.h"
#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/levels.h"
#include "keratin/backend/cpu/levels/copy.h"
#include "keratin/backend/cpu/sort_rows.h"
#include "keratin/ops/indexing_operands.h"
#include "keratin/ops/records.h"

namespace keratin::cpu {
namespace {

// Positions are kept in 32 bits while sorting.
std::optional<std::string> refuses_count(const Node& node) {
  if (node.in().shape().count() < (int64_t{1} << 31)) return std::nullopt;
  return "expected fewer than 2^31 elements";
}

// [outer, axis, inner] to [outer, inner, axis], or back.
CopyPlan swap_plan(const AxisSizes& s, DType dtype, bool back) {
  const int64_t size[] = {s.outer, s.inner, s.axis};
  const int64_t strided[] = {s.axis * s.inner, 1, s.inner};
  const int64_t dense[] = {s.axis * s.inner, s.axis, 1};
  const auto bytes = static_cast<int>(size_of(dtype));
  return back ? plan_copy(size, dense, strided, bytes) : plan_copy(size, strided, dense, bytes);
}

// A sort whose one result is the elements or their positions.
struct SortCall {
  SortRoutine routine;
  bool positions, descending;
  int threads;

  void run(const void* x, void* y, int64_t rows, int64_t cols, void* scratch) const {
    routine({.x = x,
             .values = positions ? nullptr : y,
             .index = positions ? y : nullptr,
             .rows = rows,
             .cols = cols,
             .keep = cols,
             .descending = descending,
             .index_bytes = sizeof(int64_t),
             .scratch = scratch,
             .threads = threads});
  }
};

// Along an axis that is not last: moved to the end, sorted, moved back.
Offer sort_across(const Node& node, const AxisSizes& s, const SortCall& sort) {
  const DType in = node.in().dtype(), out = node.type().dtype;
  const int64_t count = node.in().shape().count();
  const int64_t moved = aligned(count * static_cast<int64_t>(size_of(in)));
  const int64_t sorted = aligned(count * static_cast<int64_t>(size_of(out)));
  const size_t bytes = static_cast<size_t>(moved + sorted + sort_scratch(s.axis, sort.threads));
  return offer_call<UnaryOperands>(
      node, text(node.name(), " ", node.in().shape()),
      [=, copy = routines<CopyRoutines>().copy, there = swap_plan(s, in, false),
       back = swap_plan(s, out, true)](const auto& v, void* memory) {
        auto* const scratch = static_cast<std::byte*>(memory);
        std::byte* const result = scratch + moved;
        copy({.plan = &there, .src = v.x.data(), .dst = scratch, .threads = sort.threads});
        sort.run(scratch, result, s.outer * s.inner, s.axis, result + sorted);
        copy({.plan = &back, .src = result, .dst = v.y.data(), .threads = sort.threads});
      },
      {.scratch_bytes = bytes});
}

Offer make_sort(const Node& node, const KernelOptions& options) {
  const auto& attrs = node.attr<ops::SortAttrs>();
  const AxisSizes s = axis_sizes(node.in().shape(), attrs.axis);
  const SortCall sort{.routine = sort_rows(node.in().dtype()),
                      .positions = &node.op() == &ops::argsort_op,
                      .descending = attrs.descending,
                      .threads = options.threads};
  if (s.inner != 1) return sort_across(node, s, sort);
  return offer_call<UnaryOperands>(
      node, text(node.name(), " ", node.in().shape()),
      [s, sort](const auto& v, void* scratch) {
        sort.run(v.x.data(), v.y.data(), s.outer, s.axis, scratch);
      },
      {.scratch_bytes = static_cast<size_t>(sort_scratch(s.axis, options.threads))});
}

Offer make_top_k(const Node& node, const KernelOptions& options) {
  const AxisSizes s = axis_sizes(node.in().shape(), node.in().rank() - 1);
  return offer_call<ops::TopKOperands>(
      node, text("top_k ", node.in().shape()),
      [s, routine = sort_rows(node.in().dtype()), k = node.attr<ops::TopKAttrs>().k,
       threads = options.threads](const auto& v, void* scratch) {
        routine({.x = v.x.data(),
                 .values = v.values.data(),
                 .index = v.indices.data(),
                 .rows = s.outer,
                 .cols = s.axis,
                 .keep = k,
                 .descending = true,
                 .index_bytes = sizeof(int32_t),
                 .scratch = scratch,
                 .threads = threads});
      },
      {.scratch_bytes = static_cast<size_t>(sort_scratch(s.axis, options.threads))});
}

}  // namespace

extern constinit const KernelDef sort_kernel{
    .name = "sort",
    .ops = {&ops::sort_op, &ops::argsort_op},
    .refuses = refuses_count,
    .make = make_sort,
};
extern constinit const KernelDef top_k_kernel{
    .name = "top k",
    .ops = {&ops::top_k_op},
    .refuses = refuses_count,
    .make = make_top_k,
};

}  // namespace keratin::cpu
