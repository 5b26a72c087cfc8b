#pragma once

#include <cstdint>
#include <span>

namespace keratin::cpu {

inline constexpr int max_copy_rank = 12;

// A loop nest dst[sum i_k dst_stride_k] = src[sum i_k src_stride_k], innermost axis last, strides
// in elements. Transpose, slice, reverse, broadcast, pad and concat are all such copies.
struct CopyPlan {
  int rank = 0;
  int element_bytes = 0;
  bool tiled = false;  // the last two axes are a matrix transpose
  int64_t size[max_copy_rank] = {};
  int64_t src_stride[max_copy_rank] = {};
  int64_t dst_stride[max_copy_rank] = {};
};

// Orders and merges the axes for speed. The copy must write each element once: a destination
// stride is not 0 unless the axis has size 1. Refuses (InternalError) a rank over max_copy_rank.
CopyPlan plan_copy(std::span<const int64_t> size, std::span<const int64_t> src_stride,
                   std::span<const int64_t> dst_stride, int element_bytes);

struct CopyArgs {
  const CopyPlan* plan;
  const void* src;
  void* dst;
  int threads;
};

struct FillArgs {
  void* dst;
  const void* value;  // one element
  int64_t count;
  int element_bytes;
  int threads;
};

struct CopyRoutines {
  void (*copy)(const CopyArgs&);
  void (*fill)(const FillArgs&);

  static const CopyRoutines v2, v3, v4, portable;
};

}  // namespace keratin::cpu
