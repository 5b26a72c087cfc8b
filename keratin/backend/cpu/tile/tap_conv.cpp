#include "keratin/backend/cpu/tile/tap_conv.h"

#include <algorithm>

#include "keratin/backend/cpu/levels/pack.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/backend/cpu/tile/moved.h"
#include "keratin/base/text.h"

namespace keratin::cpu {

void TapConv::run(const TapConvArgs& given) const {
  TapConvArgs args = given;
  if (!desc_.packed_filter) {
    pack_filter(args.filter, args.scratch);
    args.filter = args.scratch;
  }
  for (size_t i = 0; i < plans_.size(); ++i) {
    const int64_t bands = desc_.batch * desc_.grids[i].count[0] * plans_[i].bands;
    parallel_for(threads_, bands, 1,
                 [&](int64_t begin, int64_t end) { run_bands(args, i, begin, end); });
  }
}

// Packed: per grid, group and strip, the taps in the grid's order, each [k][width].
void TapConv::pack_filter(const void* filter, void* packed) const {
  const auto pack = routines<PackRoutines>(level_).pack[desc_.dtype];
  const int64_t grain = std::max<int64_t>(1, (16 << 10) / std::max<int64_t>(desc_.k * width_, 1));
  for (size_t i = 0; i < plans_.size(); ++i) {
    const TapGrid& grid = desc_.grids[i];
    const auto taps = static_cast<int64_t>(grid.taps.size());
    parallel_for(threads_, desc_.groups * strips_ * taps, grain, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        const int64_t tap = block % taps, strip = block / taps % strips_;
        const int64_t group = block / taps / strips_;
        const int64_t from = grid.taps[static_cast<size_t>(tap)].index * desc_.tap_step +
                             group * desc_.group_step + strip * width_ * desc_.n_step;
        const int64_t to = plans_[i].packed_at + block * desc_.k * width_;
        pack({moved(filter, from * size_), moved(packed, to * size_), desc_.k, columns(strip),
              desc_.k_step, desc_.n_step, width_, width_});
      }
    });
  }
}

void TapConv::run_bands(const TapConvArgs& args, size_t grid_index, int64_t begin,
                        int64_t end) const {
  const TapGrid& grid = desc_.grids[grid_index];
  const GridPlan& plan = plans_[grid_index];
  for (int64_t i = begin; i < end; ++i) {
    Band band{.plan = plan, .grid = grid};
    band.first = i % plan.bands * plan.band;
    band.last = std::min(band.first + plan.band, plan.tiles_down);
    band.depth = i / plan.bands % grid.count[0];
    band.image = i / plan.bands / grid.count[0];
    for (int64_t group = 0; group < desc_.groups; ++group) {
      for (int64_t strip = 0; strip < strips_; ++strip) run_band(args, band, group, strip);
    }
  }
}

// The addresses of a tile are those of its first pixel and tap, which may lie outside of the array;
// what the tile reads lies inside.
void TapConv::run_band(const TapConvArgs& args, const Band& band, int64_t group,
                       int64_t strip) const {
  const GridPlan& plan = band.plan;
  const TapGrid& grid = band.grid;
  const int64_t channel = group * desc_.n + strip * width_;
  const int64_t packed = plan.packed_at + (group * strips_ + strip) * strip_elements(grid);
  const size_t last = strip + 1 == strips_ ? 1 : 0;
  TileArgs tile{.b = moved(args.filter, packed * size_),
                .bias = moved(args.bias, channel * size_),
                .finish = 1};
  const int64_t from_z = grid.from[0] + band.depth * grid.move[0];
  const int64_t to_z = grid.first[0] + band.depth * grid.step[0];
  for (int64_t down = band.first; down < band.last; ++down) {
    const int64_t row = down * plan.tile_rows;
    const int64_t from_y = grid.from[1] + row * grid.move[1];
    const int64_t to_y = grid.first[1] + row * grid.step[1];
    const int64_t from =
        ((band.image * desc_.input[0] + from_z) * desc_.input[1] + from_y) * desc_.input[2];
    const int64_t to =
        ((band.image * desc_.output[0] + to_z) * desc_.output[1] + to_y) * desc_.output[2];
    for (int64_t t = 0; t < plan.tiles; ++t) {
      const TilePlan& tile_plan = plan.plan(band.depth, down, t);
      const int64_t from_x = grid.from[2] + plan.pixel(t) * grid.move[2];
      const int64_t to_x = grid.first[2] + plan.pixel(t) * grid.step[2];
      const int64_t at = ((to + to_x) * out_pixel_ + channel) * size_;
      tile.a = moved(args.input, ((from + from_x) * in_pixel_ + group * desc_.k) * size_);
      tile.c = moved(args.output, at);
      tile.addend = moved(args.addend, at);
      tile.segments = tile_plan.segments.data();
      tile.counts = tile_plan.counts.data();
      (*tile_plan.kernels[last])(tile);
    }
    if (desc_.hook) {
      const int64_t rows = std::min(plan.tile_rows, grid.count[1] - row);
      args.hook.run(args.hook.context, to, rows * grid.count[2], channel, columns(strip));
    }
  }
}

std::string TapConv::describe_packing() const {
  std::string taps;
  for (const TapGrid& grid : desc_.grids)
    for (const TapGrid::Tap& tap : grid.taps) taps += text(' ', tap.index);
  return text("filter ", desc_.dtype, ' ', desc_.groups, 'x', desc_.k, 'x', desc_.n, " of steps ",
              desc_.tap_step, ' ', desc_.k_step, ' ', desc_.n_step, ' ', desc_.group_step,
              " in strips of ", width_, ", taps", taps);
}

std::string TapConv::describe() const {
  if (plans_.empty()) return "nothing";
  const GridPlan& plan = plans_[0];
  return text("tiles ", plan.tile_rows * plan.tile_pixels, "x", width_, ", ", plans_.size(),
              plans_.size() == 1 ? " grid" : " grids", ", bands of ", plan.band, " tiles");
}

}  // namespace keratin::cpu
