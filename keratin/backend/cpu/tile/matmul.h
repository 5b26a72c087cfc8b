#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "keratin/backend/cpu/tile/tile_kernel.h"

namespace keratin::cpu {

// Called on blocks of a result as soon as they are stored, while they are in the cache: `rows` and
// `columns` of the result seen as a matrix of all its rows, batches one after the other.
struct BlockHook {
  void (*run)(const void* context, int64_t row, int64_t rows, int64_t column,
              int64_t columns) = nullptr;
  const void* context = nullptr;
  // Called before a block is computed, to prefetch what `run` will read of other arrays.
  void (*fetch)(const void* context, int64_t row, int64_t rows, int64_t column,
                int64_t columns) = nullptr;
};

// C = post([C +] A B) for each item of a batch. Steps count elements.
struct MatmulDesc {
  DType dtype = DType::f32;  // f64, f32, f16, bf16; halves are summed in f32
  int64_t m = 0, n = 0, k = 0;
  int64_t a_row = 0, a_column = 1;  // either may be the one that is 1
  int64_t b_row = 0, b_column = 1;
  int64_t c_row = 0;  // columns of C are contiguous
  Dims batch;         // sizes of the batch axes, and the steps along them: 0 repeats an operand
  Dims a_batch, b_batch, c_batch;
  bool accumulate = false;  // start from C
  bool packed_b = false;    // B comes as pack() leaves it
  bool hook = false;        // run() gets a hook
  std::vector<TilePost> post;
  double scale = 1, cap = 0;  // for TilePost::scale and cap
};

// Row-major operands without gaps; a_transposed means that A is stored as [k, m].
MatmulDesc dense_matmul(DType dtype, int64_t m, int64_t n, int64_t k, bool a_transposed = false,
                        bool b_transposed = false);

struct MatmulArgs {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const void* bias = nullptr;    // n elements
  const void* addend = nullptr;  // laid out as C
  const void* gate = nullptr;    // laid out as C; f32 and f64 only
  void* scratch = nullptr;       // scratch_bytes(), aligned to 64
  BlockHook hook;
};

// How B reaches the tiles.
enum class PackingOfB : uint8_t {
  direct,  // in place
  strips,  // each thread packs a strip just before it needs it, or while it first uses it
  panels,  // packed as a whole before the first tile
  given,   // packed by the caller
};

// Everything that is decided before the first run; a function of its inputs alone.
struct MatmulPlan {
  PackingOfB b = PackingOfB::strips;
  bool copy_a = false;
  bool fetch_c = false;                          // C is not in the cache
  int64_t width = 0, strips = 0;                 // columns per strip of B
  int64_t tiles = 0, tile_rows = 0, larger = 0;  // the first `larger` tiles have one row more
  int64_t k_block = 0, k_blocks = 0;
  int64_t block_tiles = 0;             // tiles whose rows of A stay in the cache together
  int64_t m_chunks = 1, n_chunks = 1;  // of one item of the batch

  int64_t tile_begin(int64_t tile) const { return tile * tile_rows + std::min(tile, larger); }
};
MatmulPlan plan_matmul(const MatmulDesc& desc, int threads, Level level);

// Whether B may come packed. Halves are packed as f32, which takes twice their memory.
bool takes_packed_b(const MatmulDesc& desc);
// True if a matmul packs B in every run, unless B comes packed: then it is worth keeping.
bool packs_b(const MatmulDesc& desc, int threads, Level level = levels().back());

// Why tiles cannot compute it; empty when they can.
std::string refuse_matmul(const MatmulDesc& desc);

// A matmul, ready to run on any number of threads at once, each with its own scratch. The result
// does not depend on the number of threads that a call uses.
class TiledMatmul {
 public:
  TiledMatmul(const MatmulDesc& desc, int threads, Level level = levels().back());

  size_t scratch_bytes() const { return scratch_bytes_; }
  size_t packed_bytes() const;
  void pack(const void* b, void* packed) const;
  // Everything that the packed bytes depend on beside B.
  std::string describe_packing() const;
  void run(const MatmulArgs& args) const;
  // True if C may be the memory of the addend or of the gate.
  bool takes_addend_in_place() const { return halves_ || plan_.k_blocks <= 1; }
  std::string describe() const;

 private:
  struct Job;
  struct Item {
    int64_t a = 0, b = 0, c = 0, row = 0;  // byte offsets and the first row, as a hook counts
  };

  void list_items();
  void make_kernels();
  TileKernelPtr make_kernel(int64_t rows, int64_t strip, bool copy) const;
  bool copies_b() const { return plan_.b == PackingOfB::strips && desc_.b_column == 1 && !halves_; }
  void lay_out_scratch();
  int64_t strip_columns(int64_t strip) const;
  int64_t packed_columns(int64_t strip) const;
  int64_t packed_at(int64_t k_index, int64_t strip) const;
  int64_t jobs() const {
    return static_cast<int64_t>(items_.size()) * plan_.m_chunks * plan_.n_chunks;
  }
  Job make_job(const MatmulArgs& args, int64_t index, int slot) const;
  void run_job(const MatmulArgs& args, const Job& job) const;
  void run_block(const MatmulArgs& args, const Job& job, int64_t k_index, int64_t first,
                 int64_t last) const;
  void run_strip(const MatmulArgs& args, const Job& job, const TileArgs& common, int64_t first,
                 int64_t last, int64_t strip, bool copy) const;
  const void* strip_of_b(const MatmulArgs& args, const Job& job, int64_t k_index,
                         int64_t strip) const;
  void pack_strip(const char* b, char* to, int64_t k_index, int64_t strip) const;
  void load_halves(const MatmulArgs& args, const Job& job) const;
  void store_halves(const MatmulArgs& args, const Job& job) const;
  int64_t k_begin(int64_t k_index) const { return k_index * plan_.k_block; }
  int64_t k_size(int64_t k_index) const {
    return std::min(plan_.k_block, desc_.k - k_begin(k_index));
  }

  MatmulDesc desc_;
  Level level_;
  int threads_;
  MatmulPlan plan_;
  DType compute_;
  int64_t size_ = 0;  // bytes of a stored element, and of one that is computed with
  int64_t wide_ = 0;
  bool halves_ = false;
  int64_t a_width_ = 0;  // elements of a row of the copy of A
  std::vector<Item> items_;
  TileKernelPtr tiles_[2][2];    // [one row more][last strip]
  TileKernelPtr copiers_[2][2];  // read B in place and pack it, too
  size_t strip_bytes_ = 0, copy_bytes_ = 0;
  size_t panels_at_ = 0, threads_at_ = 0, thread_bytes_ = 0, c_at_ = 0, addend_at_ = 0,
         bias_at_ = 0, scratch_bytes_ = 0;
};

}  // namespace keratin::cpu
