#include <algorithm>
#include <limits>
#include <numeric>

#include "keratin/backend/cpu/tile/matmul.h"
#include "keratin/base/divide.h"

namespace keratin::cpu {
namespace {

constexpr int64_t cache_bytes = 1 << 20;  // the second level cache we plan for
constexpr int64_t shortest_k = 256;       // below, loading and storing tiles of C costs too much

// How the work on one item of the batch is split so that all threads get the same amount.
int64_t chunks_per_item(int64_t items, int threads) {
  if (threads <= 1 || items >= int64_t{4} * threads) return 1;
  return threads / std::gcd(items, static_cast<int64_t>(threads));
}

// Cycles per k of the slowest chunk, when a cycle does one multiply-add and one load of a vector,
// and another brings `a_line` rows of A from the second-level cache, once for every strip.
double tile_cost(int64_t m, int64_t vectors, int64_t per_strip, int64_t rows, double a_line,
                 int64_t m_chunks, int64_t n_chunks) {
  const int64_t tiles = ceil_div(ceil_div(m, rows), m_chunks);
  const int64_t strips = ceil_div(ceil_div(vectors, per_strip), n_chunks);
  const double tile_rows = double(m) / double(ceil_div(m, rows));
  const double v = double(vectors) / double(ceil_div(vectors, per_strip));
  return double(tiles) * double(strips) *
         (std::max(tile_rows * v, tile_rows + v) + tile_rows / a_line + 0.5);
}

// Rows of A whose lines fit in the first-level cache at once: those a multiple of 4 KiB apart share
// the eight lines of a set, of which B needs some.
int64_t rows_without_conflict(const MatmulDesc& desc, int64_t size) {
  if (desc.a_column != 1) return std::numeric_limits<int64_t>::max();
  return 8 * (4096 / std::gcd(desc.a_row * size, int64_t{4096})) - 2;
}

// What a search for the shape of a tile depends on.
struct TileChoice {
  int64_t m = 0, vectors = 0, max_rows = 0, max_vectors = 0;
  double a_line = 0;
  Level level = Level::v2;

  int64_t rows(int64_t per_strip) const {
    return std::min(max_tile_rows(level, per_strip), max_rows);
  }
  // With more than four vectors and several tiles, tiles would wait for lines of B.
  bool fits(int64_t per_strip) const {
    return per_strip <= max_vectors && (per_strip <= 4 || ceil_div(m, rows(per_strip)) <= 2);
  }
  double cost(int64_t per_strip, int64_t m_chunks, int64_t n_chunks) const {
    return tile_cost(m, vectors, per_strip, rows(per_strip), a_line, m_chunks, n_chunks);
  }
};

// Vectors per strip of a packed B, which serves matmuls of any number of rows and threads.
int64_t packed_vectors(TileChoice choice) {
  choice.m = 4096;
  int64_t best = 1;
  for (int64_t per_strip = 2; choice.fits(per_strip); ++per_strip)
    if (choice.cost(per_strip, 1, 1) < choice.cost(best, 1, 1)) best = per_strip;
  return best;
}

// The shape of a tile and the split among threads, by the cost above.
void choose_tile(const MatmulDesc& desc, int64_t chunks, Level level, MatmulPlan& plan) {
  const bool half = desc.dtype == DType::f16 || desc.dtype == DType::bf16;
  const int64_t lanes = tile_lanes(level, desc.dtype == DType::f64 ? DType::f64 : DType::f32);
  TileChoice choice{.m = desc.m, .vectors = ceil_div(desc.n, lanes), .level = level};
  choice.max_rows = half ? std::numeric_limits<int64_t>::max()
                         : rows_without_conflict(desc, desc.dtype == DType::f64 ? 8 : 4);
  choice.max_vectors = std::min(max_tile_vectors(level), choice.vectors);
  // Where columns of A are contiguous, a line comes whole for any number of rows.
  choice.a_line = desc.a_column == 1 ? 64.0 / (desc.dtype == DType::f64 ? 8 : 4)
                                     : std::numeric_limits<double>::infinity();
  // The larger operand should not be read by every chunk; that is B unless A is tall.
  const auto again = [&](int64_t m_chunks) {
    return desc.m > desc.n ? 0.01 * double(chunks - m_chunks) : 0.0;
  };
  const int64_t packed = desc.packed_b ? packed_vectors(choice) : 0;
  double best = std::numeric_limits<double>::infinity();
  for (int64_t per_strip = std::max<int64_t>(packed, 1);
       packed != 0 ? per_strip == packed : choice.fits(per_strip); ++per_strip) {
    for (int64_t m_chunks = 1; m_chunks <= chunks; ++m_chunks) {
      if (chunks % m_chunks != 0) continue;
      const double cost =
          choice.cost(per_strip, m_chunks, chunks / m_chunks) * (1 + again(m_chunks));
      if (cost >= best) continue;
      best = cost;
      plan.width = per_strip * lanes;
      plan.m_chunks = m_chunks;
      plan.n_chunks = chunks / m_chunks;
    }
  }
  plan.strips = ceil_div(desc.n, plan.width);
  plan.tiles = ceil_div(desc.m, choice.rows(plan.width / lanes));
  plan.tile_rows = desc.m / plan.tiles;
  plan.larger = desc.m % plan.tiles;
}

// Makes chunks small, so that other threads can take the rest of the work of a thread that has lost
// its processor. Chunks are divided along the strips of B, which are packed no more often then.
// Where there are few strips, rows are divided, and each chunk packs B again.
void refine_chunks(const MatmulDesc& desc, int64_t items, MatmulPlan& plan) {
  constexpr double flops_per_chunk = 4e6;
  constexpr int64_t min_strips = 2, min_tiles = 8;
  const double flops = 2.0 * double(desc.m) * double(desc.n) * double(desc.k) * double(items);
  const int64_t chunks = items * plan.m_chunks * plan.n_chunks;
  const auto wanted =
      static_cast<int64_t>(std::min(64.0, flops / flops_per_chunk / double(chunks)));
  const int64_t by_strips = plan.copy_a ? 1 : plan.strips / plan.n_chunks / min_strips;
  const int64_t by_tiles = plan.tiles / plan.m_chunks / std::max(min_tiles, plan.block_tiles);
  if (const int64_t more = std::min(wanted, by_strips); more > 1) {
    plan.n_chunks *= more;
  } else if (const int64_t fewer_rows = std::min(wanted, by_tiles); fewer_rows > 1) {
    plan.m_chunks *= fewer_rows;
  }
}

}  // namespace

MatmulPlan plan_matmul(const MatmulDesc& desc, int threads, Level level) {
  MatmulPlan plan;
  const bool half = desc.dtype == DType::f16 || desc.dtype == DType::bf16;
  const int64_t size = desc.dtype == DType::f64 ? 8 : 4;
  const int64_t items =
      std::accumulate(desc.batch.begin(), desc.batch.end(), int64_t{1}, std::multiplies<>());
  choose_tile(desc, chunks_per_item(items, threads), level, plan);

  const bool few_rows = plan.tiles <= 2 && desc.b_column == 1 && !half;
  plan.b = desc.packed_b ? PackingOfB::given : few_rows ? PackingOfB::direct : PackingOfB::strips;
  const int64_t step_bytes = size * (plan.tile_rows + 1);  // of one k of the rows of a tile
  int64_t longest = plan.b == PackingOfB::direct ? desc.k : cache_bytes / (size * 256);
  // With all rows of A in the cache at once, B needs no packing beforehand: each strip is packed
  // where it is used. A shorter k that makes this possible is worth more than a long one.
  if (const int64_t all_rows = cache_bytes / 2 / (step_bytes * plan.tiles / plan.m_chunks);
      plan.b == PackingOfB::strips && items == 1 && all_rows >= shortest_k)
    longest = std::min(longest, all_rows);
  plan.k_blocks = std::max<int64_t>(1, ceil_div(desc.k, std::max<int64_t>(longest, 1)));
  plan.k_block = std::max<int64_t>(1, ceil_div(desc.k, plan.k_blocks));

  const int64_t tile_bytes = plan.k_block * step_bytes;
  plan.block_tiles = std::clamp<int64_t>(cache_bytes / 2 / tile_bytes, 1, plan.tiles);
  if (plan.b == PackingOfB::strips && items == 1 && plan.block_tiles * plan.m_chunks < plan.tiles) {
    plan.b = PackingOfB::panels;
  }
  plan.copy_a = half;
  plan.fetch_c = plan.k_blocks == 1 && items * desc.m * desc.n * size > cache_bytes;
  if (threads > 1) refine_chunks(desc, items, plan);
  return plan;
}

}  // namespace keratin::cpu
