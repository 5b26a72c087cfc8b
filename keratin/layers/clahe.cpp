#include <algorithm>
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/layers/image_color.h"
#include "keratin/layers/image_values.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/cumulative.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

constexpr int64_t level_count = 256;
constexpr int64_t largest_grid = 1 << 12;  // of hostile files

// How one axis of the images is divided into tiles.
struct Tiling {
  int64_t size, count;  // pixels and tiles
  int64_t tile() const { return size / count + (size % count != 0 ? 1 : 0); }
  int64_t padded() const { return tile() * count; }
};

// For each pixel of an axis: the tile whose centre is before it and the one behind, counted with
// one more tile at each end, and the share of the second one.
struct Neighbours {
  std::vector<int64_t> before, behind;
  std::vector<float> share;
};
Neighbours neighbours(const Tiling& axis) {
  Neighbours all;
  const auto tile = static_cast<float>(axis.tile());
  for (int64_t i = 0; i < axis.padded(); ++i) {
    const float at = (static_cast<float>(i) - tile / 2) / tile + 1;
    const auto before = static_cast<int64_t>(std::floor(at));
    all.before.push_back(std::clamp<int64_t>(before, 0, axis.count + 1));
    all.behind.push_back(std::clamp<int64_t>(before + 1, 0, axis.count + 1));
    all.share.push_back(at - std::floor(at));
  }
  return all;
}

// Where the levels of a tile start for each pixel, in [rows, columns, channels, levels] of an
// image, given the tile's row for each row of pixels and its column for each column.
Value first_levels(Block& block, std::vector<int64_t> rows, std::vector<int64_t> columns,
                   int64_t row_tiles, int64_t channel_count) {
  std::vector<int64_t> channels;
  for (int64_t c = 0; c < channel_count; ++c) channels.push_back(c * level_count);
  for (int64_t& column : columns) column *= channel_count * level_count;
  for (int64_t& row : rows) row *= row_tiles * channel_count * level_count;
  const auto along = [&](size_t axis, const std::vector<int64_t>& starts) {
    Dims dims(4, 1);
    dims[axis] = static_cast<int64_t>(starts.size());
    return ops::constant(block, Tensor::of(DType::i32, Shape(dims), starts));
  };
  return along(1, rows) + along(2, columns) + along(3, channels);
}

std::vector<int64_t> tile_of_each(const Tiling& axis) {
  std::vector<int64_t> tiles;
  for (int64_t i = 0; i < axis.padded(); ++i) tiles.push_back(i / axis.tile());
  return tiles;
}

// The whole images of a call, and how they are divided.
class Clahe {
 public:
  Clahe(Value images, const Tiling& rows, const Tiling& columns, double limit)
      : rows_(rows), columns_(columns), channels_(images.shape()[3]), limit_(limit) {
    const Dims padding{0, rows.padded() - rows.size, columns.padded() - columns.size, 0};
    padded_ = ops::pad_symmetric(images, Dims(4, 0), padding);
    levels_ = ops::cast(ops::clip(padded_, 0, level_count - 1), DType::i32);
  }

  Value result() const {
    const Value maps = with_ends(with_ends(level_maps(), 1), 2);
    const Neighbours y = neighbours(rows_), x = neighbours(columns_);
    const auto mapped = [&](const std::vector<int64_t>& rows, const std::vector<int64_t>& columns) {
      return looked_up(maps, rows, columns);
    };
    const Value right = shares(x.share, {1, 1, columns_.padded(), 1});
    const Value down = shares(y.share, {1, rows_.padded(), 1, 1});
    const auto mixed = [](Value a, Value b, Value share) { return a * (1.0 - share) + b * share; };
    const Value top = mixed(mapped(y.before, x.before), mapped(y.before, x.behind), right);
    const Value bottom = mixed(mapped(y.behind, x.before), mapped(y.behind, x.behind), right);
    const Value all = mixed(top, bottom, down);
    return ops::slice(all, {0, 0, 0, 0}, {ops::to_end, rows_.size, columns_.size, ops::to_end});
  }

 private:
  Block& block() const { return levels_.block(); }
  Value shares(const std::vector<float>& values, const Shape& shape) const {
    return ops::constant(block(), Tensor::of(DType::f32, shape, values));
  }

  // How often each tile has each level: [batch, rows, columns, channels, levels].
  Value histograms_of_tiles() const {
    const Value first = first_levels(block(), tile_of_each(rows_), tile_of_each(columns_),
                                     columns_.count, channels_);
    const Value at = ops::reshape(levels_ + first, {ops::keep_size, ops::infer_size});
    const Value zero = ops::fill_like(ops::slice_axis(at, 1, 0, 1), 0, DType::f32);
    const int64_t count = rows_.count * columns_.count * channels_ * level_count;
    const Value empty = zero + ops::full(block(), DType::f32, {1, count}, 0);
    const Value counts =
        ops::scatter_add_along_axis(empty, at, ops::fill_like(at, 1, DType::f32), 1);
    return ops::reshape(counts,
                        {ops::keep_size, rows_.count, columns_.count, channels_, level_count});
  }

  // What each level of each tile becomes.
  Value level_maps() const {
    const double pixels = static_cast<double>(rows_.tile()) * static_cast<double>(columns_.tile());
    Value counts = histograms_of_tiles();
    if (limit_ > 0) {
      const Value clipped = ops::clip(counts, 0, limit_ * pixels / level_count);
      counts = clipped + ops::sum(counts - clipped, {4}, true) / level_count;
    }
    const Value below = ops::cumsum(counts, {.axis = 4});
    const Value first = ops::min(below, {4}, true);
    const Value rest = pixels - first;
    const Value scaled =
        (below - first) * 255.0 /
        ops::where(ops::equal(rest, ops::scalar_like(rest, 0)), ops::scalar_like(rest, 1), rest);
    return ops::clip(scaled, 0, 255);
  }

  // Repeats the first and the last tile.
  static Value with_ends(Value maps, int64_t axis) {
    const int64_t size = maps.shape()[axis];
    return ops::concatenate(
        {ops::slice_axis(maps, axis, 0, 1), maps, ops::slice_axis(maps, axis, size - 1, size)},
        axis);
  }

  Value looked_up(Value maps, const std::vector<int64_t>& rows,
                  const std::vector<int64_t>& columns) const {
    const Value first = first_levels(block(), rows, columns, columns_.count + 2, channels_);
    const Dims flat{ops::keep_size, ops::infer_size};
    const Value found =
        ops::take_along_axis(ops::reshape(maps, flat), ops::reshape(levels_ + first, flat), 1);
    return ops::reshape(found, {ops::keep_size, rows_.padded(), columns_.padded(), channels_});
  }

  Tiling rows_, columns_;
  int64_t channels_;
  double limit_;
  Value padded_, levels_;
};

}  // namespace

using ClaheLayer = ContrastLimitedAdaptiveHistogramEqualizationLayer;

ClaheLayer::ContrastLimitedAdaptiveHistogramEqualizationLayer(
    ContrastLimitedAdaptiveHistogramEqualizationConfig config, LayerOptions options)
    : ColorLayerOf(std::move(config), std::move(options)) {
  cfg.value_range = detail::image_value_range(cfg.value_range, false);
  const Dims& grid = cfg.tile_grid_size.dims();
  require(!cfg.tile_grid_size.single() && grid.size() == 2 && grid[0] > 0 && grid[1] > 0 &&
              grid[0] <= largest_grid && grid[1] <= largest_grid,
          class_name(), " '", name(), "': tile_grid_size must be two numbers from 1 to ",
          largest_grid, ", got ", config::write(cfg.tile_grid_size).dump());
}

Value ClaheLayer::transform_images(const Call&, Value images, const Results&) const {
  const bool channels_first = cfg.data_format == "channels_first";
  Value x = channels_first ? ops::transpose(images, {0, 2, 3, 1}) : images;
  // While only shapes are inferred, sizes may be unknown.
  if (!Shape({x.shape()[1], x.shape()[2], x.shape()[3]}).known()) return images;
  const Dims& grid = cfg.tile_grid_size.dims();
  const Tiling rows{x.shape()[1], grid[0]}, columns{x.shape()[2], grid[1]};
  for (const Tiling& axis : {rows, columns})
    require(axis.padded() <= 2 * axis.size, class_name(), " '", name(), "': ", axis.count,
            " tiles are too many for ", axis.size, " pixels");
  x = ops::cast(x, DType::f32);
  x = image::to_range(x, cfg.value_range, image::levels(), DType::f32);
  x = Clahe(x, rows, columns, cfg.clip_limit).result();
  x = ops::cast(image::to_range(x, image::levels(), cfg.value_range, DType::f32), images.dtype());
  return channels_first ? ops::transpose(x, {0, 3, 1, 2}) : x;
}

}  // namespace keratin
