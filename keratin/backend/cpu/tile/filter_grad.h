#pragma once

#include <cstddef>

#include "keratin/backend/cpu/tile/tap_input.h"

namespace keratin::cpu {

struct FilterGradArgs {
  const void* x = nullptr;
  const void* dy = nullptr;
  void* dw = nullptr;
  void* scratch = nullptr;
};

// dw[t, c, f] = sum over images and pixels o of x[n, o stride + t dilation - pad, c] dy[n, o, f]:
// tiles of (taps and channels) x filters that run along the rows of pixels, those whose tap is
// inside. With few channels, for which a tile has rows of several taps, x is read from a copy with
// its border filled in. With many threads the images are split into chunks whose sums are added at
// the end.
class FilterGrad {
 public:
  // The dtype must be f32 or f64. A deterministic one makes the same chunks whatever the threads.
  FilterGrad(const ConvDesc& desc, int threads, bool deterministic, Level level);

  size_t scratch_bytes() const { return scratch_bytes_; }
  void run(const FilterGradArgs& args) const;
  std::string describe() const;

 private:
  // Rows of dw, which are consecutive, for one group.
  struct Tile {
    int64_t first = 0, rows = 0;
    int64_t at = 0;  // where its first row reads x, in elements
    // The depths and rows of pixels for which its tap is inside, and its segments along them.
    std::pair<int64_t, int64_t> depths, heights;
    size_t segments = 0;
    TileKernelPtr kernels[2];  // [last strip]
  };
  // What one thread does: a chunk of the images, for some of the (group, strip, tile) in order.
  struct Job {
    int64_t first_image, last_image;
    int64_t first_tile, last_tile;
    char* result;
    char* copy;
  };

  void choose_width();
  void make_tiles();
  size_t make_segments(const Spatial& offset, const Tile& tile);
  TileKernelPtr make_kernel(const Dims& a_rows, int64_t strip) const;
  void choose_block();
  void choose_chunks(bool deterministic);
  int64_t columns(int64_t strip) const { return std::min(width_, filters_ - strip * width_); }
  int64_t all_tiles() const { return desc_.groups * strips_ * static_cast<int64_t>(tiles_.size()); }
  int64_t result_elements() const { return desc_.taps() * channels_ * desc_.filters; }
  void run_job(const FilterGradArgs& args, const Job& job) const;
  void run_block(const FilterGradArgs& args, const Job& job, int64_t image, int64_t images,
                 int64_t depth, int64_t row, bool first) const;
  void add_chunks(const FilterGradArgs& args) const;

  ConvDesc desc_;
  TapGrid grid_;
  TapInput input_;
  Level level_;
  int threads_;
  int64_t size_ = 4;
  int64_t channels_ = 0, filters_ = 0;  // per group
  int64_t run_ = 0;                     // rows of dw that read x side by side
  bool one_tap_ = false;                // a tile has rows of one tap, which may be outside
  int64_t width_ = 0, strips_ = 0, tile_rows_ = 0;
  std::vector<Tile> tiles_;
  int64_t band_ = 1, images_ = 1;  // of one block of work
  std::vector<std::vector<TileSegment>> segments_;
  int64_t image_chunks_ = 1, tile_chunks_ = 1;
  size_t partial_bytes_ = 0, copy_bytes_ = 0, scratch_bytes_ = 0;
};

}  // namespace keratin::cpu
