// A stable radix sort of `items` by integer keys, eight bits at a time from the lowest. For each
// digit blocks count the items of their tile, then move every item to its position. The counts are
// integers, so the order in which threads count does not matter.
#pragma once

namespace keratin::sorting {

constexpr int threads = 256, warps = threads / 32, rounds = 8, tile = threads * rounds, bins = 256;

// counts[tile][bin]; `key(i)` is the key of item i.
template <class KeyAt>
void count_digits(KeyAt key, unsigned items, int shift, unsigned* counts) {
  __shared__ unsigned found[bins];
  found[threadIdx.x] = 0;
  __syncthreads();
  const unsigned begin = blockIdx.x * tile, end = min(items, begin + tile);
  for (unsigned i = begin + threadIdx.x; i < end; i += threads)
    atomicAdd(&found[unsigned(key(i) >> shift) % bins], 1u);
  __syncthreads();
  counts[blockIdx.x * bins + threadIdx.x] = found[threadIdx.x];
}

// The first position of each bin's items of this block, one bin per thread.
inline unsigned first_positions(const unsigned* counts) {
  __shared__ unsigned sums[bins];
  unsigned total = 0, before = 0;
  for (unsigned t = 0; t < gridDim.x; ++t) {
    const unsigned count = counts[t * bins + threadIdx.x];
    if (t < blockIdx.x) before += count;
    total += count;
  }
  sums[threadIdx.x] = total;
  __syncthreads();
  for (int step = 1; step < bins; step *= 2) {
    const unsigned more = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] += more;
    __syncthreads();
  }
  return sums[threadIdx.x] - total + before;
}

// Calls put(position, i) for every item. A warp's items lie one after the other, so counting warp
// by warp and lane by lane keeps the order of equal keys.
template <class KeyAt, class Put>
void scatter_digits(KeyAt key, unsigned items, int shift, const unsigned* counts, Put put) {
  __shared__ unsigned positions[warps][bins];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int w = 0; w < warps; ++w) positions[w][threadIdx.x] = 0;
  __syncthreads();
  const unsigned begin = blockIdx.x * tile + warp * (tile / warps) + lane;
  unsigned digits[rounds], ranks[rounds];
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    const unsigned i = begin + r * 32;
    digits[r] = i < items ? unsigned(key(i) >> shift) % bins : bins;
    const unsigned alike = __match_any_sync(~0u, digits[r]);
    const unsigned before = i < items ? positions[warp][digits[r]] : 0;
    __syncwarp();
    ranks[r] = before + __popc(alike & ((1u << lane) - 1));
    if (i < items && lane == __ffs(alike) - 1) positions[warp][digits[r]] = before + __popc(alike);
    __syncwarp();
  }
  unsigned next = first_positions(counts);
  for (int w = 0; w < warps; ++w) {
    const unsigned count = positions[w][threadIdx.x];
    positions[w][threadIdx.x] = next;
    next += count;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < rounds; ++r)
    if (digits[r] != bins) put(positions[warp][digits[r]] + ranks[r], begin + r * 32);
}

// Integers in the order of the values; NaN comes last, zeros are equal.
template <bool descending, class T>
auto sort_key(T value) {
  using Key = std::conditional_t<(sizeof(T) > 4), uint64_t, unsigned>;
  constexpr Key top = Key(1) << (8 * sizeof(Key) - 1);
  Key key;
  if constexpr (std::is_floating_point_v<T>) {
    if (value != value) return ~Key(0);
    if (value == T(0)) value = T(0);
    if constexpr (sizeof(T) > 4)
      key = __double_as_longlong(value);
    else
      key = __float_as_uint(value);
    key = key & top ? ~key : key | top;
  } else {
    key = Key(value);
    if constexpr (std::is_signed_v<T>) key ^= top;
  }
  return descending ? Key(~key) : key;
}

}  // namespace keratin::sorting
