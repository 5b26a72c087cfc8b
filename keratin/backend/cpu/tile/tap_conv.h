#pragma once

#include <array>
#include <cstddef>

#include "keratin/backend/cpu/tile/tap_grid.h"

namespace keratin::cpu {

// A convolution in one direction, as a sum over taps: sizes of what it reads and writes, and where
// it finds the filter's element for (tap, k, n) of a group. Steps count elements.
struct TapConvDesc {
  DType dtype = DType::f32;  // f32 or f64
  int64_t batch = 0, groups = 1;
  Spatial input{1, 1, 1}, output{1, 1, 1};
  int64_t k = 0, n = 0;  // channels read and written, per group
  int64_t tap_step = 0, k_step = 0, n_step = 0, group_step = 0;
  std::vector<TapGrid> grids;
  std::vector<TilePost> post;
  double cap = 0;  // for TilePost::cap
  bool hook = false;
  bool packed_filter = false;  // the filter comes as pack_filter leaves it
};
TapConvDesc forward_taps(const ConvDesc& desc);
TapConvDesc backward_taps(const ConvDesc& desc);

struct TapConvArgs {
  const void* input = nullptr;
  const void* filter = nullptr;  // packed, if the description says so
  void* output = nullptr;
  const void* bias = nullptr;
  const void* addend = nullptr;
  void* scratch = nullptr;
  BlockHook hook;
};

// Runs a convolution as tiles of (pixels of a row) x (channels), reading pixels in place: near a
// border, taps that are outside skip their pixels of the tile. The result does not depend
// on the number of threads.
class TapConv {
 public:
  TapConv(TapConvDesc desc, int threads, Level level);

  size_t scratch_bytes() const { return desc_.packed_filter ? 0 : packed_bytes_; }
  size_t packed_bytes() const { return packed_bytes_; }
  void pack_filter(const void* filter, void* packed) const;
  // Everything that the packed bytes depend on beside the filter.
  std::string describe_packing() const;
  void run(const TapConvArgs& args) const;
  std::string describe() const;

 private:
  // The sums of one tile at one distance from the borders.
  struct TilePlan {
    std::vector<TileSegment> segments;
    std::vector<int64_t> counts;           // of each class
    std::array<TileKernelPtr, 2> kernels;  // [last strip]
  };
  // What is decided for one grid. Tiles are `tile_rows` rows of pixels high, or a piece of one row.
  struct GridPlan {
    int64_t packed_at = 0;  // in elements
    int64_t tile_rows = 1, tiles_down = 0;
    int64_t tiles = 0, tile_pixels = 0, larger = 0;  // of a row; the first have a pixel more
    int64_t band = 1, bands = 0;                     // tiles down that are worked on together
    // Positions with the same taps inside share plans: those of a depth and a height, and of a tile
    // in the row.
    std::vector<size_t> depth_kinds, height_kinds;
    size_t heights = 0;
    std::vector<size_t> plan_of;  // [depth kind][height kind][tile in the row]
    std::vector<TilePlan> plans;  // those that differ

    int64_t pixel(int64_t tile) const { return tile * tile_pixels + std::min(tile, larger); }
    // An entry of plan_of.
    size_t entry(int64_t depth, int64_t down, int64_t tile) const {
      const size_t kind = depth_kinds[static_cast<size_t>(depth)] * heights +
                          height_kinds[static_cast<size_t>(down)];
      return kind * static_cast<size_t>(tiles) + static_cast<size_t>(tile);
    }
    const TilePlan& plan(int64_t depth, int64_t down, int64_t tile) const {
      return plans[plan_of[entry(depth, down, tile)]];
    }
  };
  // Pixels that a tile covers.
  struct Area {
    int64_t depth, row, rows, pixel, pixels;
  };
  // A band of tiles of one image.
  struct Band {
    const GridPlan& plan;
    const TapGrid& grid;
    int64_t image, depth, first, last;
  };

  int64_t max_rows_of(const TapGrid& grid, int64_t vectors) const;
  double tile_cost(const TapGrid& grid, int64_t vectors) const;
  void choose_width();
  void plan_grid(const TapGrid& grid, GridPlan& plan) const;
  void plan_kinds(const TapGrid& grid, GridPlan& plan) const;
  void plan_bands(const TapGrid& grid, GridPlan& plan) const;
  Area area(const TapGrid& grid, const GridPlan& plan, int64_t depth, int64_t down,
            int64_t tile) const;
  // `inside` has, for each tap, the pixels of the tile for which it is inside.
  TilePlan plan_tile(const TapGrid& grid, const Area& area,
                     const std::vector<uint32_t>& inside) const;
  std::vector<uint32_t> taps_inside(const TapGrid& grid, const Area& area) const;
  uint32_t rows_inside(const TapGrid& grid, const TapGrid::Tap& tap, const Area& area) const;
  TileKernelPtr make_kernel(const TapGrid& grid, const Area& area,
                            const std::vector<TileClass>& classes, int64_t strip) const;

  void run_bands(const TapConvArgs& args, size_t grid, int64_t begin, int64_t end) const;
  void run_band(const TapConvArgs& args, const Band& band, int64_t group, int64_t strip) const;

  int64_t columns(int64_t strip) const { return std::min(width_, desc_.n - strip * width_); }
  int64_t strip_elements(const TapGrid& grid) const {
    return static_cast<int64_t>(grid.taps.size()) * desc_.k * width_;
  }

  TapConvDesc desc_;
  Level level_;
  int threads_;
  int64_t size_ = 4;
  int64_t width_ = 0, strips_ = 0;
  int64_t in_pixel_ = 0, out_pixel_ = 0;  // channels of all groups
  std::vector<GridPlan> plans_;
  size_t packed_bytes_ = 0;
};

}  // namespace keratin::cpu
