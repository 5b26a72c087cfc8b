#include "keratin/backend/cpu/tile/matmul.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "keratin/backend/cpu/align.h"
#include "keratin/backend/cpu/levels/pack.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/backend/cpu/tile/moved.h"
#include "keratin/base/text.h"

namespace keratin::cpu {
namespace {

// Items of a batch along which only A and C move are rows of one larger matmul.
MatmulDesc merge_batch(MatmulDesc desc) {
  while (!desc.batch.empty() && desc.b_batch.back() == 0 && desc.a_column == 1 &&
         desc.a_batch.back() == desc.m * desc.a_row && desc.c_batch.back() == desc.m * desc.c_row) {
    desc.m *= desc.batch.back();
    for (Dims* dims : {&desc.batch, &desc.a_batch, &desc.b_batch, &desc.c_batch}) dims->pop_back();
  }
  return desc;
}

}  // namespace

MatmulDesc dense_matmul(DType dtype, int64_t m, int64_t n, int64_t k, bool a_transposed,
                        bool b_transposed) {
  MatmulDesc desc{.dtype = dtype, .m = m, .n = n, .k = k, .c_row = n};
  desc.a_row = a_transposed ? 1 : k;
  desc.a_column = a_transposed ? m : 1;
  desc.b_row = b_transposed ? 1 : n;
  desc.b_column = b_transposed ? k : 1;
  return desc;
}

std::string refuse_matmul(const MatmulDesc& desc) {
  if (!is_float(desc.dtype)) return text("no tiles for ", desc.dtype);
  if (desc.a_row != 1 && desc.a_column != 1) return "A is contiguous along no axis";
  if (desc.b_row != 1 && desc.b_column != 1) return "B is contiguous along no axis";
  constexpr int64_t reach = int64_t{1} << 20;  // offsets inside a tile are 32 bits wide
  if (std::max({desc.a_row, desc.a_column, desc.b_row, desc.c_row}) > reach) {
    return "rows are too far apart";
  }
  return "";
}

bool takes_packed_b(const MatmulDesc& desc) {
  const bool half = desc.dtype == DType::f16 || desc.dtype == DType::bf16;
  return !half && desc.m > 0 && desc.n > 0 && desc.k > 0;
}

bool packs_b(const MatmulDesc& desc, int threads, Level level) {
  return takes_packed_b(desc) &&
         plan_matmul(merge_batch(desc), threads, level).b != PackingOfB::direct;
}

// What one thread does of one item of the batch.
struct TiledMatmul::Job {
  Item item;
  int64_t first_tile, last_tile, first_strip, last_strip;
  char* strip;  // private memory: a strip of B, and rows of A
  char* a_copy;
};

TiledMatmul::TiledMatmul(const MatmulDesc& desc, int threads, Level level)
    : desc_(merge_batch(desc)), level_(level), threads_(std::max(threads, 1)) {
  const std::string reason = refuse_matmul(desc_);
  ensure(reason.empty(), reason);
  compute_ = desc_.dtype == DType::f64 ? DType::f64 : DType::f32;
  halves_ = desc_.dtype == DType::f16 || desc_.dtype == DType::bf16;
  size_ = static_cast<int64_t>(size_of(desc_.dtype));
  wide_ = static_cast<int64_t>(size_of(compute_));
  if (desc_.m == 0 || desc_.n == 0) return;
  plan_ = plan_matmul(desc_, threads_, level_);
  list_items();
  if (items_.empty()) return;
  make_kernels();
  lay_out_scratch();
}

void TiledMatmul::list_items() {
  const int64_t count =
      std::accumulate(desc_.batch.begin(), desc_.batch.end(), int64_t{1}, std::multiplies<>());
  items_.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    Item& item = items_[static_cast<size_t>(i)];
    item.row = i * desc_.m;
    int64_t rest = i;
    for (size_t axis = desc_.batch.size(); axis-- > 0;) {
      const int64_t at = rest % desc_.batch[axis];
      rest /= desc_.batch[axis];
      item.a += at * desc_.a_batch[axis] * size_;
      item.b += at * desc_.b_batch[axis] * size_;
      item.c += at * desc_.c_batch[axis] * size_;
    }
  }
}

int64_t TiledMatmul::strip_columns(int64_t strip) const {
  return std::min(plan_.width, desc_.n - strip * plan_.width);
}

// The columns of a packed strip, rounded up to whole vectors.
int64_t TiledMatmul::packed_columns(int64_t strip) const {
  const int64_t lanes = tile_lanes(level_, compute_);
  return (strip_columns(strip) + lanes - 1) / lanes * lanes;
}

void TiledMatmul::make_kernels() {
  // Rows of the copy of A start in different sets of the cache.
  const int64_t block_rows = plan_.block_tiles * (plan_.tile_rows + 1);
  a_width_ = (desc_.a_column == 1 ? plan_.k_block : block_rows) / 16 * 16 + 16;
  for (const int64_t more : {0, 1}) {
    const int64_t rows = plan_.tile_rows + more;
    if (rows == 0 || (more != 0 && plan_.larger == 0)) continue;
    for (const int64_t last : {0, 1}) {
      const int64_t strip = last != 0 ? plan_.strips - 1 : 0;
      tiles_[more][last] = make_kernel(rows, strip, false);
      if (copies_b()) copiers_[more][last] = make_kernel(rows, strip, true);
    }
  }
}

TileKernelPtr TiledMatmul::make_kernel(int64_t rows, int64_t strip, bool copy) const {
  const bool by_rows = desc_.a_column == 1;
  TileSpec spec{.level = level_,
                .dtype = compute_,
                .copy_b = copy,
                .fetch_c = plan_.fetch_c,
                .post = desc_.post,
                .scale = desc_.scale,
                .cap = desc_.cap};
  spec.a_step = by_rows ? 1 : plan_.copy_a ? a_width_ : desc_.a_column;
  spec.columns = strip_columns(strip);
  spec.whole_b = plan_.b != PackingOfB::direct && !copy;
  spec.b_step = spec.whole_b ? packed_columns(strip) : desc_.b_row;
  const int64_t a_row = !by_rows ? 1 : plan_.copy_a ? a_width_ : desc_.a_row;
  for (int64_t i = 0; i < rows; ++i) {
    spec.a_rows.push_back(i * a_row);
    spec.c_rows.push_back(i * (halves_ ? desc_.n : desc_.c_row));
  }
  return make_tile_kernel(spec);
}

void TiledMatmul::lay_out_scratch() {
  const auto bytes = [](int64_t count, int64_t size) {
    return aligned(static_cast<size_t>(count * size));
  };
  size_t at = 0;
  const auto take = [&](size_t size) {
    const size_t begin = at;
    at += size;
    return begin;
  };
  const int64_t items = static_cast<int64_t>(items_.size());
  const int64_t results = items * desc_.m * desc_.n;
  const auto uses = [&](TilePost post) {
    return std::find(desc_.post.begin(), desc_.post.end(), post) != desc_.post.end();
  };
  panels_at_ = take(plan_.b == PackingOfB::panels ? packed_bytes() : 0);
  strip_bytes_ = plan_.b == PackingOfB::strips ? bytes(plan_.k_block * plan_.width, wide_) : 0;
  const int64_t lines =
      desc_.a_column == 1 ? plan_.block_tiles * (plan_.tile_rows + 1) : plan_.k_block;
  copy_bytes_ = plan_.copy_a ? bytes(lines * a_width_, wide_) : 0;
  thread_bytes_ = strip_bytes_ + copy_bytes_;
  threads_at_ = take(thread_bytes_ * static_cast<size_t>(threads_));
  c_at_ = take(halves_ ? bytes(results, wide_) : 0);
  addend_at_ = take(halves_ && uses(TilePost::addend) ? bytes(results, wide_) : 0);
  bias_at_ = take(halves_ && uses(TilePost::bias) ? bytes(desc_.n, wide_) : 0);
  scratch_bytes_ = at;
}

size_t TiledMatmul::packed_bytes() const {
  return aligned(static_cast<size_t>(packed_at(plan_.k_blocks, 0) * wide_));
}

// Packed: for each block of k, strip after strip, each [k][packed columns]. Counts elements.
int64_t TiledMatmul::packed_at(int64_t k_index, int64_t strip) const {
  const int64_t columns = (plan_.strips - 1) * plan_.width + packed_columns(plan_.strips - 1);
  const int64_t k = std::min(k_begin(k_index), desc_.k);
  return k * columns + strip * plan_.width * (strip > 0 ? k_size(k_index) : 0);
}

void TiledMatmul::pack_strip(const char* b, char* to, int64_t k_index, int64_t strip) const {
  const int64_t from =
      (k_begin(k_index) * desc_.b_row + strip * plan_.width * desc_.b_column) * size_;
  routines<PackRoutines>(level_).pack[desc_.dtype](
      {b + from, to, k_size(k_index), strip_columns(strip), desc_.b_row, desc_.b_column,
       packed_columns(strip), packed_columns(strip)});
}

void TiledMatmul::pack(const void* b, void* packed) const {
  parallel_for(threads_, plan_.k_blocks * plan_.strips, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t k_index = i / plan_.strips, strip = i % plan_.strips;
      pack_strip(static_cast<const char*>(b), moved(packed, packed_at(k_index, strip) * wide_),
                 k_index, strip);
    }
  });
}

void TiledMatmul::run(const MatmulArgs& args) const {
  if (items_.empty()) return;
  if (plan_.b == PackingOfB::panels) pack(args.b, moved(args.scratch, int64_t(panels_at_)));
  if (halves_ && bias_at_ < scratch_bytes_) {
    routines<PackRoutines>(level_).pack[desc_.dtype]({args.bias,
                                                      moved(args.scratch, int64_t(bias_at_)), 1,
                                                      desc_.n, desc_.n, 1, desc_.n, desc_.n});
  }
  parallel_for(threads_, jobs(), 1, [&](int64_t begin, int64_t end, int slot) {
    for (int64_t i = begin; i < end; ++i) run_job(args, make_job(args, i, slot));
  });
}

TiledMatmul::Job TiledMatmul::make_job(const MatmulArgs& args, int64_t index, int slot) const {
  const int64_t n_chunk = index % plan_.n_chunks;
  const int64_t m_chunk = index / plan_.n_chunks % plan_.m_chunks;
  const FixedSplit tiles{plan_.tiles, plan_.m_chunks}, strips{plan_.strips, plan_.n_chunks};
  Job job{.item = items_[static_cast<size_t>(index / (plan_.n_chunks * plan_.m_chunks))]};
  job.first_tile = tiles.begin(m_chunk);
  job.last_tile = tiles.end(m_chunk);
  job.first_strip = strips.begin(n_chunk);
  job.last_strip = strips.end(n_chunk);
  job.strip = moved(args.scratch, int64_t(threads_at_ + thread_bytes_ * size_t(slot)));
  job.a_copy = job.strip + strip_bytes_;
  return job;
}

void TiledMatmul::run_job(const MatmulArgs& args, const Job& job) const {
  if (halves_) load_halves(args, job);
  for (int64_t k_index = 0; k_index < plan_.k_blocks; ++k_index) {
    for (int64_t tile = job.first_tile; tile < job.last_tile; tile += plan_.block_tiles) {
      run_block(args, job, k_index, tile, std::min(tile + plan_.block_tiles, job.last_tile));
    }
  }
  if (halves_) store_halves(args, job);
}

// Rows of A that stay in the cache, against all strips of B.
void TiledMatmul::run_block(const MatmulArgs& args, const Job& job, int64_t k_index, int64_t first,
                            int64_t last) const {
  const int64_t row = plan_.tile_begin(first), rows = plan_.tile_begin(last) - row;
  const int64_t a_at = row * desc_.a_row + k_begin(k_index) * desc_.a_column;
  TileArgs common;
  common.a = moved(args.a, job.item.a + a_at * size_);
  if (plan_.copy_a) {
    const bool by_rows = desc_.a_column == 1;
    routines<PackRoutines>(level_).pack[desc_.dtype](
        {common.a, job.a_copy, by_rows ? rows : k_size(k_index), by_rows ? k_size(k_index) : rows,
         by_rows ? desc_.a_row : desc_.a_column, 1, a_width_, by_rows ? k_size(k_index) : rows});
    common.a = job.a_copy;
  }
  common.accumulate = k_index > 0 || desc_.accumulate ? 1 : 0;
  common.finish = k_index + 1 == plan_.k_blocks ? 1 : 0;
  // Tiles count their rows from the first of the matmul.
  const int64_t a_row = desc_.a_column != 1 ? 1 : plan_.copy_a ? a_width_ : desc_.a_row;
  common.a = moved(common.a, -row * a_row * wide_);
  const TileSegment whole{0, 0, k_size(k_index)};
  const int64_t count = whole.k > 0 ? 1 : 0;
  common.segments = &whole;
  common.counts = &count;
  for (int64_t strip = job.first_strip; strip < job.last_strip; ++strip) {
    common.b = strip_of_b(args, job, k_index, strip);
    common.b_copy = job.strip;
    if (copies_b()) {
      run_strip(args, job, common, first, first + 1, strip, true);
      common.b = job.strip;
      run_strip(args, job, common, first + 1, last, strip, false);
    } else {
      run_strip(args, job, common, first, last, strip, false);
    }
  }
}

const void* TiledMatmul::strip_of_b(const MatmulArgs& args, const Job& job, int64_t k_index,
                                    int64_t strip) const {
  const int64_t packed = packed_at(k_index, strip) * wide_;
  switch (plan_.b) {
    case PackingOfB::direct:
      return moved(args.b, job.item.b + strip * plan_.width * size_);
    case PackingOfB::given:
      return moved(args.b, packed);
    case PackingOfB::panels:
      return moved(args.scratch, int64_t(panels_at_) + packed);
    case PackingOfB::strips:
      break;
  }
  if (copies_b()) {
    const int64_t at = k_begin(k_index) * desc_.b_row + strip * plan_.width;
    return moved(args.b, job.item.b + at * size_);
  }
  pack_strip(moved(args.b, job.item.b), job.strip, k_index, strip);
  return job.strip;
}

void TiledMatmul::run_strip(const MatmulArgs& args, const Job& job, const TileArgs& common,
                            int64_t first, int64_t last, int64_t strip, bool copy) const {
  const int64_t column = strip * plan_.width;
  const size_t last_strip = strip + 1 == plan_.strips ? 1 : 0;
  const int64_t c_row = halves_ ? desc_.n : desc_.c_row;
  const int64_t c_item = halves_ ? job.item.row * desc_.n * wide_ : job.item.c;
  const void* bias = halves_ ? moved(args.scratch, int64_t(bias_at_)) : args.bias;
  const void* addend = halves_ ? moved(args.scratch, int64_t(addend_at_)) : args.addend;
  void* c = halves_ ? moved(args.scratch, int64_t(c_at_)) : args.c;
  const bool by_rows = desc_.a_column == 1;
  const int64_t a_row = !by_rows ? 1 : plan_.copy_a ? a_width_ : desc_.a_row;
  for (int64_t tile = first; tile < last; ++tile) {
    const int64_t row = plan_.tile_begin(tile);
    const int64_t rows = plan_.tile_begin(tile + 1) - row;
    const int64_t at = c_item + (row * c_row + column) * wide_;
    const bool hooked = desc_.hook && !halves_ && common.finish != 0;
    if (hooked && args.hook.fetch != nullptr)
      args.hook.fetch(args.hook.context, job.item.row + row, rows, column, strip_columns(strip));
    TileArgs tile_args = common;
    tile_args.a = moved(common.a, row * a_row * wide_);
    tile_args.c = moved(c, at);
    tile_args.bias = moved(bias, column * wide_);
    tile_args.addend = moved(addend, at);
    tile_args.gate = moved(args.gate, at);
    (*(copy ? copiers_ : tiles_)[tile < plan_.larger ? 1 : 0][last_strip])(tile_args);
    if (hooked) {
      args.hook.run(args.hook.context, job.item.row + row, rows, column, strip_columns(strip));
    }
  }
}

// Halves are computed in f32: what the sums start from is converted first, the result last.
void TiledMatmul::load_halves(const MatmulArgs& args, const Job& job) const {
  const int64_t row = plan_.tile_begin(job.first_tile);
  const int64_t rows = plan_.tile_begin(job.last_tile) - row;
  const int64_t column = job.first_strip * plan_.width;
  const int64_t columns = std::min(job.last_strip * plan_.width, desc_.n) - column;
  const auto load = [&](const void* from, size_t to) {
    const int64_t at = ((job.item.row + row) * desc_.n + column) * wide_;
    routines<PackRoutines>(level_).pack[desc_.dtype](
        {moved(from, job.item.c + (row * desc_.c_row + column) * size_),
         moved(args.scratch, int64_t(to) + at), rows, columns, desc_.c_row, 1, desc_.n, columns});
  };
  if (desc_.accumulate) load(args.c, c_at_);
  if (addend_at_ < bias_at_) load(args.addend, addend_at_);
}

void TiledMatmul::store_halves(const MatmulArgs& args, const Job& job) const {
  const int64_t row = plan_.tile_begin(job.first_tile);
  const int64_t rows = plan_.tile_begin(job.last_tile) - row;
  const int64_t column = job.first_strip * plan_.width;
  const int64_t columns = std::min(job.last_strip * plan_.width, desc_.n) - column;
  const int64_t at = ((job.item.row + row) * desc_.n + column) * wide_;
  routines<PackRoutines>(level_).unpack[desc_.dtype](
      {moved(args.scratch, int64_t(c_at_) + at),
       moved(args.c, job.item.c + (row * desc_.c_row + column) * size_), rows, columns, desc_.n,
       desc_.c_row});
  if (desc_.hook && rows > 0 && columns > 0) {
    args.hook.run(args.hook.context, job.item.row + row, rows, column, columns);
  }
}

std::string TiledMatmul::describe_packing() const {
  return text("B ", desc_.dtype, ' ', desc_.k, 'x', desc_.n, " of steps ", desc_.b_row, ' ',
              desc_.b_column, " in strips of ", plan_.width, " and blocks of ", plan_.k_block);
}

std::string TiledMatmul::describe() const {
  constexpr const char* names[] = {"direct", "strips", "panels", "given"};
  return text("tiles ", plan_.tile_rows, "x", plan_.width, ", B ", names[size_t(plan_.b)],
              plan_.copy_a ? ", A copied" : "", ", k ", plan_.k_block, ", chunks ", plan_.m_chunks,
              "x", plan_.n_chunks);
}

}  // namespace keratin::cpu
