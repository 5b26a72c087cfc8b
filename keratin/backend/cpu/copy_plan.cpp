#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "keratin/backend/cpu/levels/copy.h"
#include "keratin/base/text.h"

namespace keratin::cpu {
namespace {

struct Axis {
  int64_t size, src, dst;
};

struct Axes {
  int rank = 0;
  Axis axis[max_copy_rank];

  Axis& last() { return axis[rank - 1]; }
};

// Merges neighbouring axes that are contiguous in both tensors.
void merge_neighbours(Axes& a) {
  int kept = 0;
  for (int k = 0; k < a.rank; ++k) {
    if (kept > 0) {
      Axis& before = a.axis[kept - 1];
      const Axis& here = a.axis[k];
      if (before.src == here.src * here.size && before.dst == here.dst * here.size) {
        before = {before.size * here.size, here.src, here.dst};
        continue;
      }
    }
    a.axis[kept++] = a.axis[k];
  }
  a.rank = kept;
}

// Treats a short contiguous last axis as one wider element.
void widen_elements(Axes& a, int& bytes) {
  if (a.rank < 2 || a.last().src != 1 || a.last().dst != 1) return;
  const int64_t n = a.last().size, wide = n * bytes;
  if (wide != 2 && wide != 4 && wide != 8 && wide != 16) return;
  for (int k = 0; k + 1 < a.rank; ++k) {
    if (a.axis[k].src % n != 0 || a.axis[k].dst % n != 0) return;
  }
  --a.rank;
  for (int k = 0; k < a.rank; ++k) a.axis[k].src /= n, a.axis[k].dst /= n;
  bytes = static_cast<int>(wide);
}

// Brings the axis that is contiguous in the source beside the one contiguous in the destination.
bool arrange_tiles(Axes& a) {
  if (a.rank < 2 || a.last().dst != 1 || a.last().src == 1 || a.last().src == 0) return false;
  for (int k = 0; k + 1 < a.rank; ++k) {
    if (a.axis[k].src != 1) continue;
    std::rotate(a.axis + k, a.axis + k + 1, a.axis + a.rank - 1);
    return a.axis[a.rank - 2].size >= 4 && a.last().size >= 4;
  }
  return false;
}

}  // namespace

CopyPlan plan_copy(std::span<const int64_t> size, std::span<const int64_t> src_stride,
                   std::span<const int64_t> dst_stride, int element_bytes) {
  Axes axes;
  for (size_t k = 0; k < size.size(); ++k) {
    if (size[k] == 1) continue;
    ensure(axes.rank < max_copy_rank, "cpu: a copy over more than ", max_copy_rank, " axes");
    axes.axis[axes.rank++] = {size[k], src_stride[k], dst_stride[k]};
  }
  std::stable_sort(axes.axis, axes.axis + axes.rank,
                   [](const Axis& a, const Axis& b) { return std::abs(a.dst) > std::abs(b.dst); });
  merge_neighbours(axes);
  widen_elements(axes, element_bytes);
  if (axes.rank == 0) axes.axis[axes.rank++] = {1, 1, 1};

  CopyPlan plan{.element_bytes = element_bytes, .tiled = arrange_tiles(axes)};
  plan.rank = axes.rank;
  for (int k = 0; k < axes.rank; ++k) {
    plan.size[k] = axes.axis[k].size;
    plan.src_stride[k] = axes.axis[k].src;
    plan.dst_stride[k] = axes.axis[k].dst;
  }
  return plan;
}

}  // namespace keratin::cpu
