#include "keratin/backend/cpu/sequence.h"

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/kernel_table.h"
#include "keratin/backend/cpu/kernels.h"
#include "keratin/base/text.h"
#include "keratin/ops/cumulative.h"
#include "keratin/ops/random.h"
#include "keratin/ops/sort.h"

namespace keratin::cpu {
namespace {

struct Sizes {
  int64_t outer, axis, inner;
};

Sizes sizes_of(const Shape& shape, int64_t axis) {
  return {shape.count(0, axis), shape[axis], shape.count(axis + 1, shape.rank())};
}

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// [outer, axis, inner] to [outer, inner, axis], or back.
CopyPlan swap_plan(const Sizes& s, DType dtype, bool back) {
  const int64_t size[] = {s.outer, s.inner, s.axis};
  const int64_t strided[] = {s.axis * s.inner, 1, s.inner};
  const int64_t dense[] = {s.axis * s.inner, s.axis, 1};
  const auto bytes = static_cast<int>(size_of(dtype));
  return back ? plan_copy(size, dense, strided, bytes) : plan_copy(size, strided, dense, bytes);
}

// Sorts along an axis that is not last: moved to the end, sorted, moved back. One result, the
// elements or their positions.
Offer sort_across(const Node& node, const KernelOptions& options, bool positions) {
  const auto& attrs = node.attr<ops::SortAttrs>();
  const Sizes s = sizes_of(node.in().shape(), attrs.axis);
  const DType in = node.in().dtype(), out = node.type().dtype;
  const int64_t count = node.in().shape().count();
  const int threads = options.threads;
  const int64_t moved = aligned(count * static_cast<int64_t>(size_of(in)));
  const int64_t sorted = aligned(count * static_cast<int64_t>(size_of(out)));
  return offer_call(text(node.name(), " ", node.in().shape()),
                    [=, kernel = kernels().sort.sort[in], descending = attrs.descending,
                     there = swap_plan(s, in, false), back = swap_plan(s, out, true)](Pointers p) {
                      auto* const scratch = static_cast<std::byte*>(p[2]);
                      std::byte* const result = scratch + moved;
                      kernels().copy.copy({&there, p[0], scratch, threads});
                      kernel({scratch, positions ? nullptr : result, positions ? result : nullptr,
                              s.outer * s.inner, s.axis, s.axis, descending, sizeof(int64_t),
                              result + sorted, threads});
                      kernels().copy.copy({&back, result, p[1], threads});
                    },
                    {.scratch_bytes = static_cast<size_t>(moved + sorted +
                                                          sort_scratch(s.axis, options.threads))});
}

Offer sort_by(const Node& node, const KernelOptions& options, bool positions) {
  const auto& attrs = node.attr<ops::SortAttrs>();
  const Sizes s = sizes_of(node.in().shape(), attrs.axis);
  if (s.inner != 1) return sort_across(node, options, positions);
  return offer_call(text(node.name(), " ", node.in().shape()),
                    [=, kernel = kernels().sort.sort[node.in().dtype()],
                     descending = attrs.descending, threads = options.threads](Pointers p) {
                      kernel({p[0], positions ? nullptr : p[1], positions ? p[1] : nullptr, s.outer,
                              s.axis, s.axis, descending, sizeof(int64_t), p[2], threads});
                    },
                    {.scratch_bytes = static_cast<size_t>(sort_scratch(s.axis, options.threads))});
}

Offer accumulate(const Node& node, const KernelOptions& options,
                 void (*kernel)(const CumulativeArgs&)) {
  if (kernel == nullptr) return refuse("no running totals of ", node.in().dtype());
  const auto& attrs = node.attr<ops::CumulativeAttrs>();
  const Sizes s = sizes_of(node.in().shape(), attrs.axis);
  return offer_call(text(node.name(), " ", node.in().shape()),
                    [=, exclusive = attrs.exclusive, reverse = attrs.reverse,
                     threads = options.threads](Pointers p) {
                      kernel({p[0], p[1], s.outer, s.axis, s.inner, exclusive, reverse, threads});
                    },
                    {.in_place = true});
}

}  // namespace

// Positions are kept in 32 bits while sorting.
bool claims_sort(const Node& node) { return node.in().shape().count() < (int64_t{1} << 31); }

Offer make_sort(const Node& node, const KernelOptions& options) {
  if (!claims_sort(node)) return refuse("too many elements");
  return sort_by(node, options, false);
}
Offer make_argsort(const Node& node, const KernelOptions& options) {
  if (!claims_sort(node)) return refuse("too many elements");
  return sort_by(node, options, true);
}

Offer make_top_k(const Node& node, const KernelOptions& options) {
  if (!claims_sort(node)) return refuse("too many elements");
  const Sizes s = sizes_of(node.in().shape(), node.in().rank() - 1);
  return offer_call(
      text("top_k ", node.in().shape()),
      [=, kernel = kernels().sort.sort[node.in().dtype()], k = node.attr<ops::TopKAttrs>().k,
       threads = options.threads](Pointers p) {
        kernel({p[0], p[1], p[2], s.outer, s.axis, k, true, sizeof(int32_t), p[3], threads});
      },
      {.scratch_bytes = static_cast<size_t>(sort_scratch(s.axis, options.threads))});
}

Offer make_cumsum(const Node& node, const KernelOptions& options) {
  return accumulate(node, options, kernels().cumulative.sum[node.in().dtype()]);
}
Offer make_cumprod(const Node& node, const KernelOptions& options) {
  return accumulate(node, options, kernels().cumulative.prod[node.in().dtype()]);
}

Offer make_random_bits(const Node& node, const KernelOptions& options) {
  return offer_call(text("random bits ", node.type().shape),
                    [kernel = kernels().random.bits, count = node.type().shape.count(),
                     threads = options.threads](Pointers p) {
                      const auto* const key = static_cast<const uint64_t*>(p[0]);
                      kernel({static_cast<uint32_t*>(p[1]), count, key[0], key[1], threads});
                    });
}

}  // namespace keratin::cpu
