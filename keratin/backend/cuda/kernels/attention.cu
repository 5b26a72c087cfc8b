// Attention without its matrix of weights: a block takes some queries (or keys) of one head and
// goes over all keys (or queries), tile by tile. ops/attention.h says what is computed; exponents
// of softmax are to base two.
#pragma once

#include "keratin/backend/cuda/kernels/tiles.cu"

namespace keratin::attention {

// Written by attention.cpp.
struct Layout {
  int queries, keys, heads, key_heads, depth;
  bool causal, masked;
  int64_t mask_batch, mask_head, mask_query, mask_key;  // steps of the mask
  float scale;                                          // times log2(e)
  int sharers;                                          // warps that share the keys of few queries
};

constexpr int warps = 4, rows = 16 * warps;  // of a block
constexpr float log2_e = 1.44269504f, ln_2 = 0.69314718f;
constexpr float hidden = -1e30f;  // the score of a masked key; softmax of these alone is uniform
constexpr float lowest = -3.40282347e38f;

// One head of one sample.
template <Layout l>
struct Head {
  int batch, head;
  explicit Head(int number) : batch(number / l.heads), head(number % l.heads) {}

  int64_t query_at(int t) const {
    return ((int64_t(batch) * l.queries + t) * l.heads + head) * l.depth;
  }
  int64_t key_at(int t) const {
    return ((int64_t(batch) * l.keys + t) * l.key_heads + head / (l.heads / l.key_heads)) * l.depth;
  }
  int64_t statistic_at(int t) const { return (int64_t(batch) * l.heads + head) * l.queries + t; }

  // True if query t sees key s.
  bool sees(const bool* mask, int t, int s) const {
    if (l.causal && s > t) return false;
    if constexpr (l.masked)
      return mask[batch * l.mask_batch + head * l.mask_head + min(t, l.queries - 1) * l.mask_query +
                  s * l.mask_key];
    return true;
  }
};

template <Layout l, class T, bool exact>
struct Tile {
  using U = tiles::Unit<T, exact>;
  static constexpr int stride = l.depth + U::padding;

  // Rows to be stored in shared memory: all are loaded before the first is stored. `threads`
  // neighbouring threads share the work.
  template <int count, int threads = 32 * warps>
  struct Rows {
    static constexpr int pack = 16 / sizeof(T), across = l.depth / pack;
    static constexpr int each = (count * across + threads - 1) / threads;
    Pack<T, pack> packs[each];

    // Rows of the tensor, `step` apart; zeros after the last.
    void load(const T* from, int64_t step, int there) {
#pragma unroll
      for (int i = 0; i < each; ++i) {
        const int at = threadIdx.x % threads + i * threads, row = at / across;
        packs[i] = {};
        if (row < min(there, count))
          packs[i] =
              *reinterpret_cast<const Pack<T, pack>*>(from + row * step + at % across * pack);
      }
    }
    void store(T* to) {
#pragma unroll
      for (int i = 0; i < each; ++i) {
        const int at = threadIdx.x % threads + i * threads, row = at / across;
        if (row >= count) break;
#pragma unroll
        for (int e = 0; e < pack; ++e) packs[i].items[e] = U::prepared(packs[i].items[e]);
        *reinterpret_cast<Pack<T, pack>*>(to + row * stride + at % across * pack) = packs[i];
      }
    }
  };

  // This thread's part of 16 rows, times a factor; at[row] is where a row lies, or negative.
  static void store(T* to, const int64_t (&at)[2], const float (&sums)[l.depth / 8][4],
                    const float (&factor)[2]) {
    const tiles::Lane lane;
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (at[half] >= 0)
#pragma unroll
        for (int n = 0; n < l.depth / 8; ++n)
          *reinterpret_cast<Pack<T, 2>*>(to + at[half] + n * 8 + 2 * lane.pair) = {
              T(sums[n][2 * half] * factor[half]), T(sums[n][2 * half + 1] * factor[half])};
  }
};

// Over the four threads that share a row.
template <class Combine>
float over_row(float value) {
  value = Combine{}(value, __shfl_xor_sync(~0u, value, 1));
  return Combine{}(value, __shfl_xor_sync(~0u, value, 2));
}

// What a warp's 16 queries found in the keys that they have gone past: sums of values, each times
// its share, and the sum of shares, as if the largest score so far were the largest of all.
template <Layout l, class T, bool exact>
struct Findings {
  using HeadTile = Tile<l, T, exact>;
  using U = typename HeadTile::U;
  float sums[l.depth / 8][4] = {};
  float peak[2] = {lowest, lowest}, total[2] = {0, 0};  // of rows `line` and `line` + 8

  // `width` keys and values from `start` on, and queries from `first` on, all in shared memory.
  template <int width>
  void add(const Head<l>& head, const bool* mask, int first, int start, const T* q, const T* k,
           const T* v) {
    const tiles::Lane lane;
    constexpr int n = width / 8;
    float s[n][4] = {};
    tiles::add_rows_by_rows<U, l.depth>(s, q, k, HeadTile::stride);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int t = first + lane.line + 8 * half;
      float most = peak[half];
#pragma unroll
      for (int i = 0; i < n; ++i)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int at = start + i * 8 + 2 * lane.pair + e;
          float& score = s[i][2 * half + e];
          if (at >= l.keys)
            score = -std::numeric_limits<float>::infinity();
          else
            score = head.sees(mask, t, at) ? score * l.scale : hidden;
          most = max(most, score);
        }
      most = over_row<scalar::Maximum>(most);
      const float shrink = exp2f(peak[half] - most);
      peak[half] = most;
      total[half] *= shrink;
#pragma unroll
      for (int i = 0; i < n; ++i)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          s[i][2 * half + e] = exp2f(s[i][2 * half + e] - most);
          total[half] += s[i][2 * half + e];
        }
#pragma unroll
      for (int i = 0; i < l.depth / 8; ++i) {
        sums[i][2 * half] *= shrink;
        sums[i][2 * half + 1] *= shrink;
      }
    }
    tiles::add_sums_by_rows<U>(sums, s, v, HeadTile::stride);
  }
};

inline float log_of(float peak, float total) { return (peak + log2f(total)) * ln_2; }

// Keys behind this one are seen by none of `count` queries from `first` on. Where a query may see
// no key, all of them count; only a mask can do that.
template <Layout l>
int end_of_keys(int first, int count) {
  return l.causal && !l.masked ? min(l.keys, first + count) : l.keys;
}

template <Layout l, class T, bool exact>
void forward(const T* query, const T* key, const T* value, const bool* mask, T* y, float* log_sum,
             T* memory) {
  using HeadTile = Tile<l, T, exact>;
  constexpr int width = 128 / sizeof(T);  // keys of a tile
  constexpr int blocks = (l.queries + rows - 1) / rows;
  const Head<l> head(blockIdx.x / blocks);
  const int first = blockIdx.x % blocks * rows, own = threadIdx.x / 32 * 16;
  T *const q = memory, *const k = q + rows * HeadTile::stride,
           *const v = k + width * HeadTile::stride;
  typename HeadTile::template Rows<rows> queries;
  typename HeadTile::template Rows<width> keys, values;  // of the tile to come
  const auto load = [&](int start) {
    keys.load(key + head.key_at(start), l.key_heads * l.depth, l.keys - start);
    values.load(value + head.key_at(start), l.key_heads * l.depth, l.keys - start);
  };
  queries.load(query + head.query_at(first), l.heads * l.depth, l.queries - first);
  load(0);
  queries.store(q);
  Findings<l, T, exact> found;
  const int end = end_of_keys<l>(first, rows);
  for (int start = 0; start < end; start += width) {
    __syncthreads();
    keys.store(k);
    values.store(v);
    __syncthreads();
    if (start + width < end) load(start + width);
    found.template add<width>(head, mask, first + own, start, q + own * HeadTile::stride, k, v);
  }
  const tiles::Lane lane;
  int64_t at[2];
  float factor[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int t = first + own + lane.line + 8 * half;
    const float total = over_row<scalar::Add>(found.total[half]);
    factor[half] = 1 / total;
    at[half] = t < l.queries ? head.query_at(t) : -1;
    if (log_sum != nullptr && t < l.queries && lane.pair == 0)
      log_sum[head.statistic_at(t)] = log_of(found.peak[half], total);
  }
  if (y != nullptr) HeadTile::store(y, at, found.sums, factor);
}

// The same where blocks of as many queries as above would leave most of a GPU idle: a block has 16
// queries, each warp goes over tiles of its own, and their results are joined in order.
template <Layout l, class T, bool exact>
void forward_few(const T* query, const T* key, const T* value, const bool* mask, T* y,
                 float* log_sum, T* memory) {
  using HeadTile = Tile<l, T, exact>;
  constexpr int width = 64 / sizeof(T), tile = 2 * width * HeadTile::stride;  // keys and values
  constexpr int blocks = (l.queries + 15) / 16;
  const Head<l> head(blockIdx.x / blocks);
  const int first = blockIdx.x % blocks * 16, warp = threadIdx.x / 32;
  T *const q = memory, *const all = q + 16 * HeadTile::stride;
  T *const k = all + warp * tile, *const v = k + width * HeadTile::stride;
  typename HeadTile::template Rows<16, 32 * l.sharers> queries;
  typename HeadTile::template Rows<width, 32> keys, values;
  const int end = end_of_keys<l>(first, 16);
  const auto load = [&](int start) {
    if (start >= end) return;
    keys.load(key + head.key_at(start), l.key_heads * l.depth, l.keys - start);
    values.load(value + head.key_at(start), l.key_heads * l.depth, l.keys - start);
  };
  queries.load(query + head.query_at(first), l.heads * l.depth, l.queries - first);
  load(warp * width);
  queries.store(q);
  __syncthreads();
  Findings<l, T, exact> found;
  for (int start = warp * width; start < end; start += l.sharers * width) {
    keys.store(k);
    values.store(v);
    __syncwarp();
    found.template add<width>(head, mask, first, start, q, k, v);
    __syncwarp();
    load(start + l.sharers * width);
  }
  // Overwrites the tile, which the warp no longer needs.
  constexpr int stride = l.depth + 4;
  static_assert(16 * stride * sizeof(float) <= tile / 2 * sizeof(T));
  __shared__ float peaks[l.sharers][16], totals[l.sharers][16];
  const tiles::Lane lane;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = lane.line + 8 * half;
    const float total = over_row<scalar::Add>(found.total[half]);
    if (lane.pair == 0) {
      peaks[warp][row] = found.peak[half];
      totals[warp][row] = total;
    }
    float* const to = reinterpret_cast<float*>(k) + row * stride + 2 * lane.pair;
#pragma unroll
    for (int n = 0; n < l.depth / 8; ++n)
      *reinterpret_cast<Pack<float, 2>*>(to + n * 8) = {found.sums[n][2 * half],
                                                        found.sums[n][2 * half + 1]};
  }
  __syncthreads();
  constexpr int across = l.depth / 4;
  for (int i = threadIdx.x; i < min(16, l.queries - first) * across; i += 32 * l.sharers) {
    const int row = i / across, column = i % across * 4;
    float most = peaks[0][row], total = 0, sums[4] = {};
#pragma unroll
    for (int w = 1; w < l.sharers; ++w) most = max(most, peaks[w][row]);
#pragma unroll
    for (int w = 0; w < l.sharers; ++w) {
      const float factor = exp2f(peaks[w][row] - most);
      const auto part = *reinterpret_cast<const Pack<float, 4>*>(
          reinterpret_cast<const float*>(all + w * tile) + row * stride + column);
      total += factor * totals[w][row];
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[e] += factor * part.items[e];
    }
    Pack<T, 4> four;
#pragma unroll
    for (int e = 0; e < 4; ++e) four.items[e] = T(sums[e] / total);
    if (y != nullptr)
      *reinterpret_cast<Pack<T, 4>*>(y + head.query_at(first + row) + column) = four;
    if (log_sum != nullptr && column == 0)
      log_sum[head.statistic_at(first + row)] = log_of(most, total);
  }
}

// The weight of a key, from its score and the log sum of the query.
template <Layout l>
float share(float score, float log_sum) {
  return log_sum < hidden / 10 ? 1.0f / l.keys : exp2f(score - log_sum);
}

constexpr int back_width = 32;  // rows of a tile that passes by

// dquery; `deltas` are Σ y · dy of each query, for the other kernel.
template <Layout l, class T, bool exact>
void backward_queries(const T* query, const T* key, const T* value, const bool* mask, const T* y,
                      const float* log_sum, const T* dy, T* dquery, float* deltas, T* memory) {
  using HeadTile = Tile<l, T, exact>;
  using U = typename HeadTile::U;
  constexpr int n = back_width / 8, blocks = (l.queries + rows - 1) / rows;
  const Head<l> head(blockIdx.x / blocks);
  const int first = blockIdx.x % blocks * rows, warp = threadIdx.x / 32;
  const tiles::Lane lane;
  T *const q = memory, *const d = q + rows * HeadTile::stride,
           *const k = d + rows * HeadTile::stride, *const v = k + back_width * HeadTile::stride;
  typename HeadTile::template Rows<rows> queries, slopes;
  typename HeadTile::template Rows<back_width> keys, values;  // of the tile to come
  const auto load_tile = [&](int start) {
    keys.load(key + head.key_at(start), l.key_heads * l.depth, l.keys - start);
    values.load(value + head.key_at(start), l.key_heads * l.depth, l.keys - start);
  };
  queries.load(query + head.query_at(first), l.heads * l.depth, l.queries - first);
  slopes.load(dy + head.query_at(first), l.heads * l.depth, l.queries - first);
  queries.store(q);
  slopes.store(d);
  load_tile(0);
  int64_t at[2];
  float delta[2], log2_sum[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int t = first + warp * 16 + lane.line + 8 * half;
    at[half] = t < l.queries ? head.query_at(t) : -1;
    float total = 0;
    if (t < l.queries) {
      constexpr int pack = 16 / sizeof(T);
#pragma unroll
      for (int i = lane.pair * pack; i < l.depth; i += 4 * pack) {
        const auto a = *reinterpret_cast<const Pack<T, pack>*>(y + at[half] + i),
                   b = *reinterpret_cast<const Pack<T, pack>*>(dy + at[half] + i);
#pragma unroll
        for (int e = 0; e < pack; ++e) total += load(a.items[e]) * load(b.items[e]);
      }
    }
    delta[half] = over_row<scalar::Add>(total);
    log2_sum[half] = t < l.queries ? log_sum[head.statistic_at(t)] * log2_e : 0.0f;
    if (t < l.queries && lane.pair == 0) deltas[head.statistic_at(t)] = delta[half];
  }
  float sums[l.depth / 8][4] = {};
  const int end = end_of_keys<l>(first, rows);
  for (int start = 0; start < end && dquery != nullptr; start += back_width) {
    __syncthreads();
    keys.store(k);
    values.store(v);
    __syncthreads();
    if (start + back_width < end) load_tile(start + back_width);
    float s[n][4] = {}, ds[n][4] = {};
    tiles::add_rows_by_rows<U, l.depth>(s, q + warp * 16 * HeadTile::stride, k, HeadTile::stride);
    tiles::add_rows_by_rows<U, l.depth>(ds, d + warp * 16 * HeadTile::stride, v, HeadTile::stride);
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int half = e / 2, t = first + warp * 16 + lane.line + 8 * half,
                  to = start + i * 8 + 2 * lane.pair + e % 2;
        const bool counts = to < l.keys && head.sees(mask, t, to);
        ds[i][e] =
            counts ? share<l>(s[i][e] * l.scale, log2_sum[half]) * (ds[i][e] - delta[half]) : 0.0f;
      }
    tiles::add_sums_by_rows<U>(sums, ds, k, HeadTile::stride);
  }
  if (dquery != nullptr) HeadTile::store(dquery, at, sums, {l.scale * ln_2, l.scale * ln_2});
}

// dkey and dvalue: rows are keys, columns queries.
template <Layout l, class T, bool exact>
void backward_keys(const T* query, const T* key, const T* value, const bool* mask,
                   const float* log_sum, const T* dy, const float* deltas, T* dkey, T* dvalue,
                   T* memory) {
  using HeadTile = Tile<l, T, exact>;
  using U = typename HeadTile::U;
  constexpr int n = back_width / 8, blocks = (l.keys + rows - 1) / rows;
  const Head<l> head(blockIdx.x / blocks);
  const int first = blockIdx.x % blocks * rows, warp = threadIdx.x / 32;
  const tiles::Lane lane;
  T *const k = memory, *const v = k + rows * HeadTile::stride,
           *const q = v + rows * HeadTile::stride, *const d = q + back_width * HeadTile::stride;
  typename HeadTile::template Rows<rows> keys, values;
  typename HeadTile::template Rows<back_width> queries, slopes;  // of the tile to come
  const auto load = [&](int start) {
    queries.load(query + head.query_at(start), l.heads * l.depth, l.queries - start);
    slopes.load(dy + head.query_at(start), l.heads * l.depth, l.queries - start);
  };
  keys.load(key + head.key_at(first), l.key_heads * l.depth, l.keys - first);
  values.load(value + head.key_at(first), l.key_heads * l.depth, l.keys - first);
  keys.store(k);
  values.store(v);
  float dk[l.depth / 8][4] = {}, dv[l.depth / 8][4] = {};
  const int begin = l.causal && !l.masked ? first / back_width * back_width : 0;
  if (begin < l.queries) load(begin);
  for (int start = begin; start < l.queries; start += back_width) {
    __syncthreads();
    queries.store(q);
    slopes.store(d);
    __syncthreads();
    if (start + back_width < l.queries) load(start + back_width);
    float p[n][4] = {}, ds[n][4] = {};
    tiles::add_rows_by_rows<U, l.depth>(p, k + warp * 16 * HeadTile::stride, q, HeadTile::stride);
    tiles::add_rows_by_rows<U, l.depth>(ds, v + warp * 16 * HeadTile::stride, d, HeadTile::stride);
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const int t = start + i * 8 + 2 * lane.pair + c, known = min(t, l.queries - 1);
        const float log2_sum = log_sum[head.statistic_at(known)] * log2_e,
                    delta = deltas[head.statistic_at(known)];
#pragma unroll
        for (int e = c; e < 4; e += 2) {
          const int to = first + warp * 16 + lane.line + 8 * (e / 2);
          const bool there = t < l.queries && to < l.keys;
          const bool counts = there && head.sees(mask, t, to);
          p[i][e] = there ? share<l>(counts ? p[i][e] * l.scale : hidden, log2_sum) : 0.0f;
          ds[i][e] = counts ? p[i][e] * (ds[i][e] - delta) : 0.0f;
        }
      }
    tiles::add_sums_by_rows<U>(dv, p, d, HeadTile::stride);
    tiles::add_sums_by_rows<U>(dk, ds, q, HeadTile::stride);
  }
  int64_t at[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int to = first + warp * 16 + lane.line + 8 * half;
    at[half] = to < l.keys ? head.key_at(to) : -1;
  }
  if (dkey != nullptr) HeadTile::store(dkey, at, dk, {l.scale * ln_2, l.scale * ln_2});
  if (dvalue != nullptr) HeadTile::store(dvalue, at, dv, {1, 1});
}

}  // namespace keratin::attention
