#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "keratin/backend/cpu/tile/tap_conv.h"
#include "keratin/base/divide.h"

namespace keratin::cpu {
namespace {

constexpr int64_t band_bytes = 256 << 10;  // input that stays in the second level cache
constexpr int64_t unrolled_terms = 32;

}  // namespace

TapConvDesc forward_taps(const ConvDesc& conv) {
  TapConvDesc desc{.dtype = conv.dtype,
                   .batch = conv.batch,
                   .groups = conv.groups,
                   .input = conv.input,
                   .output = conv.output,
                   .k = conv.group_channels(),
                   .n = conv.group_filters()};
  desc.tap_step = conv.group_channels() * conv.filters;
  desc.k_step = conv.filters;
  desc.n_step = 1;
  desc.group_step = conv.group_filters();
  desc.grids = {forward_grid(conv)};
  desc.post = conv.post;
  desc.cap = conv.cap;
  desc.hook = conv.hook;
  desc.packed_filter = conv.packed_filter;
  return desc;
}

TapConvDesc backward_taps(const ConvDesc& conv) {
  TapConvDesc desc = forward_taps(conv);
  std::swap(desc.input, desc.output);
  std::swap(desc.k, desc.n);
  std::swap(desc.k_step, desc.n_step);
  desc.grids = backward_grids(conv);
  desc.post.clear();
  desc.hook = desc.packed_filter = false;
  return desc;
}

TapConv::TapConv(TapConvDesc desc, int threads, Level level)
    : desc_(std::move(desc)), level_(level), threads_(std::max(threads, 1)) {
  size_ = static_cast<int64_t>(size_of(desc_.dtype));
  in_pixel_ = desc_.k * desc_.groups;
  out_pixel_ = desc_.n * desc_.groups;
  if (desc_.batch == 0 || desc_.n == 0) desc_.grids.clear();
  std::erase_if(desc_.grids, [](const TapGrid& grid) { return grid.empty(); });
  if (desc_.grids.empty()) return;
  choose_width();
  plans_.resize(desc_.grids.size());
  int64_t packed = 0;
  for (size_t i = 0; i < plans_.size(); ++i) {
    plan_grid(desc_.grids[i], plans_[i]);
    plans_[i].packed_at = packed;
    packed += desc_.groups * strips_ * strip_elements(desc_.grids[i]);
  }
  packed_bytes_ = static_cast<size_t>(packed * size_);
}

// Pixels whose lines fit in the first-level cache at once, see rows_without_conflict of matmul.
int64_t TapConv::max_rows_of(const TapGrid& grid, int64_t vectors) const {
  const int64_t apart = grid.move[2] * in_pixel_ * size_;
  const int64_t fit = 8 * (4096 / std::gcd(apart, int64_t{4096})) - 2;
  return std::min(max_tile_rows(level_, vectors), fit);
}

// Cycles per k and row of pixels, when a cycle does one multiply-add and one load of a vector.
double TapConv::tile_cost(const TapGrid& grid, int64_t vectors) const {
  const int64_t max_rows = max_rows_of(grid, vectors);
  const int64_t pixels = grid.count[2];
  const double together = double(std::max<int64_t>(1, max_rows / pixels));
  const double tiles = double(ceil_div(pixels, max_rows));
  const double rows = together * double(pixels) / tiles;
  const int64_t lanes = tile_lanes(level_, desc_.dtype);
  const int64_t all = ceil_div(desc_.n, lanes);
  const double strips = double(ceil_div(all, vectors));
  const double v = double(all) / strips;
  return strips * tiles / together * (std::max(rows * v, rows + v) + 0.5);
}

// One width of strips serves all grids; they differ by a pixel at most.
void TapConv::choose_width() {
  const int64_t lanes = tile_lanes(level_, desc_.dtype);
  const int64_t max_vectors = std::min(max_tile_vectors(level_), ceil_div(desc_.n, lanes));
  double best = std::numeric_limits<double>::infinity();
  for (int64_t vectors = 1; vectors <= max_vectors; ++vectors) {
    const double cost = tile_cost(desc_.grids[0], vectors);
    if (cost >= best) continue;
    best = cost;
    width_ = vectors * lanes;
  }
  strips_ = ceil_div(desc_.n, width_);
}

void TapConv::plan_grid(const TapGrid& grid, GridPlan& plan) const {
  const int64_t max_rows = max_rows_of(grid, width_ / tile_lanes(level_, desc_.dtype));
  const int64_t pixels = grid.count[2];
  plan.tile_rows = std::clamp<int64_t>(max_rows / pixels, 1, grid.count[1]);
  plan.tiles_down = ceil_div(grid.count[1], plan.tile_rows);
  plan.tiles = ceil_div(pixels, max_rows);
  plan.tile_pixels = pixels / plan.tiles;
  plan.larger = pixels % plan.tiles;
  plan_bands(grid, plan);
  plan_kinds(grid, plan);
}

void TapConv::plan_bands(const TapGrid& grid, GridPlan& plan) const {
  const int64_t row_bytes = plan.tile_rows * grid.move[1] * desc_.input[2] * in_pixel_ * size_;
  const int64_t fit = std::max<int64_t>(1, band_bytes / std::max<int64_t>(row_bytes, 1));
  const int64_t wanted =
      threads_ > 1 ? ceil_div(int64_t{4} * threads_, desc_.batch * grid.count[0]) : 1;
  const int64_t bands = std::max(ceil_div(plan.tiles_down, fit), wanted);
  plan.band = ceil_div(plan.tiles_down, bands);
  plan.bands = ceil_div(plan.tiles_down, plan.band);
}

void TapConv::plan_kinds(const TapGrid& grid, GridPlan& plan) const {
  plan.depth_kinds = kinds_along(grid, desc_.input, 0, 1);
  plan.height_kinds = kinds_along(grid, desc_.input, 1, plan.tile_rows);
  plan.heights = kind_count(plan.height_kinds);
  constexpr size_t unknown_plan = SIZE_MAX;
  plan.plan_of.assign(kind_count(plan.depth_kinds) * plan.heights * static_cast<size_t>(plan.tiles),
                      unknown_plan);
  // Tiles of one size that have the same pixels inside are the same, wherever they are.
  std::map<std::tuple<int64_t, int64_t, std::vector<uint32_t>>, size_t> made;
  for (int64_t depth = 0; depth < grid.count[0]; ++depth) {
    for (int64_t down = 0; down < plan.tiles_down; ++down) {
      for (int64_t tile = 0; tile < plan.tiles; ++tile) {
        size_t& number = plan.plan_of[plan.entry(depth, down, tile)];
        if (number != unknown_plan) continue;
        const Area at = area(grid, plan, depth, down, tile);
        std::vector<uint32_t> inside = taps_inside(grid, at);
        const auto [found, is_new] =
            made.emplace(std::tuple(at.rows, at.pixels, std::move(inside)), plan.plans.size());
        if (is_new) plan.plans.push_back(plan_tile(grid, at, std::get<2>(found->first)));
        number = found->second;
      }
    }
  }
}

TapConv::Area TapConv::area(const TapGrid& grid, const GridPlan& plan, int64_t depth, int64_t down,
                            int64_t tile) const {
  Area area{.depth = depth, .row = down * plan.tile_rows, .pixel = plan.pixel(tile)};
  area.rows = std::min(plan.tile_rows, grid.count[1] - area.row);
  area.pixels = plan.pixel(tile + 1) - area.pixel;
  return area;
}

// The pixels of the tile for which the tap is inside.
uint32_t TapConv::rows_inside(const TapGrid& grid, const TapGrid::Tap& tap,
                              const Area& area) const {
  const auto& [z, y, x] = tap.offset;
  uint32_t rows = 0;
  if (!is_inside(grid, desc_.input, 0, z, area.depth)) return 0;
  for (int64_t i = 0; i < area.rows * area.pixels; ++i) {
    const int64_t row = area.row + i / area.pixels, pixel = area.pixel + i % area.pixels;
    if (is_inside(grid, desc_.input, 1, y, row) && is_inside(grid, desc_.input, 2, x, pixel)) {
      rows |= uint32_t{1} << i;
    }
  }
  return rows;
}

std::vector<uint32_t> TapConv::taps_inside(const TapGrid& grid, const Area& area) const {
  std::vector<uint32_t> inside;
  for (const TapGrid::Tap& tap : grid.taps) inside.push_back(rows_inside(grid, tap, area));
  return inside;
}

// Taps with the same pixels inside form a class. Those side by side read one stretch of memory,
// unless other groups lie between.
TapConv::TilePlan TapConv::plan_tile(const TapGrid& grid, const Area& area,
                                     const std::vector<uint32_t>& inside) const {
  std::map<uint32_t, std::vector<TileSegment>, std::greater<>> classes;
  int64_t terms = 0;
  for (size_t i = 0; i < grid.taps.size(); ++i) {
    const uint32_t rows = inside[i];
    if (rows == 0 || desc_.k == 0) continue;
    const auto& [z, y, x] = grid.taps[i].offset;
    const int64_t at = ((z * desc_.input[1] + y) * desc_.input[2] + x) * in_pixel_ * size_;
    const int64_t b = static_cast<int64_t>(i) * desc_.k * width_ * size_;
    auto& segments = classes[rows];
    terms += desc_.k;
    const bool joined = !segments.empty() && desc_.groups == 1 &&
                        segments.back().a + segments.back().k * size_ == at &&
                        segments.back().b + segments.back().k * width_ * size_ == b;
    if (joined) {
      segments.back().k += desc_.k;
    } else {
      segments.push_back({at, b, desc_.k});
    }
  }
  TilePlan plan;
  std::vector<TileClass> spec_classes;
  const bool unrolled = terms <= unrolled_terms;
  for (const auto& [rows, segments] : classes) {
    spec_classes.push_back({rows, unrolled ? segments : std::vector<TileSegment>{}});
    plan.counts.push_back(static_cast<int64_t>(segments.size()));
    plan.segments.insert(plan.segments.end(), segments.begin(), segments.end());
  }
  if (classes.empty()) {
    spec_classes = {{}};
    plan.counts = {0};
  }
  for (const size_t last : {0, 1}) {
    plan.kernels[last] = make_kernel(grid, area, spec_classes, last != 0 ? strips_ - 1 : 0);
  }
  return plan;
}

TileKernelPtr TapConv::make_kernel(const TapGrid& grid, const Area& area,
                                   const std::vector<TileClass>& classes, int64_t strip) const {
  TileSpec spec{.level = level_, .dtype = desc_.dtype, .b_step = width_, .whole_b = true};
  spec.columns = columns(strip);
  spec.post = desc_.post;
  spec.cap = desc_.cap;
  spec.classes = classes;
  spec.unrolled = !classes.front().segments.empty();
  for (int64_t y = 0; y < area.rows; ++y) {
    for (int64_t x = 0; x < area.pixels; ++x) {
      const int64_t from = y * grid.move[1] * desc_.input[2] + x * grid.move[2];
      const int64_t to = y * grid.step[1] * desc_.output[2] + x * grid.step[2];
      spec.a_rows.push_back(from * in_pixel_);
      spec.c_rows.push_back(to * out_pixel_);
    }
  }
  return make_tile_kernel(spec);
}

}  // namespace keratin::cpu
