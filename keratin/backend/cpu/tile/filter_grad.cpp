#include "keratin/backend/cpu/tile/filter_grad.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "keratin/backend/cpu/align.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/base/divide.h"
#include "keratin/base/text.h"

namespace keratin::cpu {
namespace {

constexpr int64_t block_bytes = 384 << 10;   // of x and dy, which stay in the second level cache
constexpr int64_t partial_limit = 16 << 20;  // of the sums of all chunks but the first
constexpr int64_t few_channels = 8;

}  // namespace

FilterGrad::FilterGrad(const ConvDesc& desc, int threads, bool deterministic, Level level)
    : desc_(desc),
      grid_(forward_grid(desc)),
      level_(level),
      threads_(std::max(threads, 1)),
      size_(static_cast<int64_t>(size_of(desc.dtype))),
      channels_(desc.group_channels()),
      filters_(desc.group_filters()) {
  if (result_elements() == 0) return;
  if (grid_.empty()) desc_.batch = 0;
  if (desc_.batch == 0) return;  // no pixel: the gradient is zero
  const bool in_place = channels_ >= few_channels;
  const bool taps_alike = !in_place || !reaches_outside(grid_, desc_.input);
  input_ = TapInput(grid_, desc_.input, desc_.channels, size_, in_place);
  const bool side_by_side = desc_.groups == 1 && desc_.dilation[2] == 1 && taps_alike;
  run_ = side_by_side ? desc_.kernel[2] * channels_ : channels_;
  one_tap_ = !taps_alike;
  choose_width();
  choose_block();
  make_tiles();
  choose_chunks(deterministic);
}

// The width of a strip by the cycles per pixel, when a cycle does one multiply-add and one load of
// a vector. A tile has rows of one run, or of several short ones.
void FilterGrad::choose_width() {
  const int64_t lanes = tile_lanes(level_, desc_.dtype);
  const int64_t all = ceil_div(filters_, lanes);
  const int64_t rows = desc_.taps() * channels_;
  double best = std::numeric_limits<double>::infinity();
  for (int64_t vectors = 1; vectors <= std::min(max_tile_vectors(level_), all); ++vectors) {
    const int64_t max_rows = max_tile_rows(level_, vectors);
    const int64_t per_tile = run_ >= max_rows ? ceil_div(run_, ceil_div(run_, max_rows))
                             : one_tap_       ? run_
                                              : max_rows / run_ * run_;
    const double strips = double(ceil_div(all, vectors));
    const double v = double(all) / strips;
    const double m = double(std::min(per_tile, rows));
    const double cost = strips * double(rows) / m * (std::max(m * v, m + v) + 0.5);
    if (cost >= best) continue;
    best = cost;
    width_ = vectors * lanes;
    tile_rows_ = per_tile;
  }
  strips_ = ceil_div(filters_, width_);
}

// Blocks of work: several whole images, or a band of rows of one.
void FilterGrad::choose_block() {
  const int64_t dy_row = desc_.output[2] * desc_.filters * size_;
  band_ = grid_.count[1];
  const auto bytes = [&](int64_t rows) { return input_.bytes_read(rows) + rows * dy_row; };
  while (band_ > 1 && bytes(band_) > block_bytes) band_ = ceil_div(band_, 2);
  input_.set_band(band_);
  if (band_ == grid_.count[1] && grid_.count[0] == 1) {
    images_ = std::clamp<int64_t>(block_bytes / bytes(band_), 1, desc_.batch);
  }
}

void FilterGrad::make_tiles() {
  const int64_t rows = desc_.taps() * channels_;
  Dims offsets;  // where each row of dw reads x
  for (const auto& tap : grid_.taps) {
    for (int64_t c = 0; c < channels_; ++c) offsets.push_back(input_.tap_offset(tap.offset) + c);
  }
  for (int64_t first = 0; first < rows;) {
    Tile tile{.first = first};
    const int64_t to_end_of_run = run_ - first % run_;
    tile.rows = tile_rows_ <= run_ ? std::min(tile_rows_, to_end_of_run) : tile_rows_;
    tile.rows = std::min(tile.rows, rows - first);
    tile.at = offsets[static_cast<size_t>(first)];
    Dims a_rows(offsets.begin() + first, offsets.begin() + first + tile.rows);
    for (int64_t& row : a_rows) row -= tile.at;
    const Spatial& offset = grid_.taps[static_cast<size_t>(first / channels_)].offset;
    tile.depths = {0, grid_.count[0]};
    tile.heights = {0, grid_.count[1]};
    if (one_tap_) {
      tile.depths = places_inside(grid_, desc_.input, 0, offset[0]);
      tile.heights = places_inside(grid_, desc_.input, 1, offset[1]);
    }
    tile.segments = make_segments(offset, tile);
    tile.kernels[0] = make_kernel(a_rows, 0);
    tile.kernels[1] = make_kernel(a_rows, strips_ - 1);
    first += tile.rows;
    tiles_.push_back(std::move(tile));
  }
}

// For whole images, the rows inside, image after image; for a band, all its rows, from which a
// block takes those inside.
size_t FilterGrad::make_segments(const Spatial& offset, const Tile& tile) {
  std::pair<int64_t, int64_t> pixels{0, grid_.count[2]}, heights{0, band_};
  if (one_tap_) pixels = places_inside(grid_, desc_.input, 2, offset[2]);
  if (images_ > 1) heights = tile.heights;
  const int64_t x_image = input_.padded() ? input_.copy_elements() : input_.image_pitch();
  std::vector<TileSegment> made;
  for (int64_t i = 0; i < images_; ++i) {
    for (int64_t r = heights.first; r < heights.second; ++r) {
      const int64_t line = i * desc_.output[1] + r;
      const int64_t x = i * x_image + r * input_.next_row() + pixels.first * input_.next_pixel();
      const int64_t dy = (line * desc_.output[2] + pixels.first) * desc_.filters;
      made.push_back({x * size_, dy * size_, pixels.second - pixels.first});
    }
  }
  const auto known = std::find(segments_.begin(), segments_.end(), made);
  if (known != segments_.end()) return static_cast<size_t>(known - segments_.begin());
  segments_.push_back(std::move(made));
  return segments_.size() - 1;
}

TileKernelPtr FilterGrad::make_kernel(const Dims& a_rows, int64_t strip) const {
  TileSpec spec{.level = level_, .dtype = desc_.dtype, .a_rows = a_rows};
  spec.a_step = input_.next_pixel();
  spec.b_step = desc_.filters;
  spec.columns = columns(strip);
  for (size_t i = 0; i < a_rows.size(); ++i) {
    spec.c_rows.push_back(static_cast<int64_t>(i) * desc_.filters);
  }
  return make_tile_kernel(spec);
}

// Splitting the tiles needs no sums at the end, but every chunk then makes its own padded copies.
void FilterGrad::choose_chunks(bool deterministic) {
  const int64_t bytes = result_elements() * size_;
  const int64_t max_image_chunks = std::clamp<int64_t>(desc_.batch, 1, partial_limit / bytes + 1);
  const double uneven = double(ceil_div(all_tiles(), threads_) * threads_) / double(all_tiles());
  if (deterministic) {
    image_chunks_ = std::min<int64_t>(max_image_chunks, 4);
  } else if (threads_ > 1 && max_image_chunks >= threads_ && (input_.padded() || uneven > 1.1)) {
    image_chunks_ = threads_;
  }
  tile_chunks_ = std::min(ceil_div(threads_, image_chunks_), all_tiles());
  partial_bytes_ = static_cast<size_t>(aligned(bytes));
  copy_bytes_ = static_cast<size_t>(aligned(input_.copy_elements() * images_ * size_));
  scratch_bytes_ = partial_bytes_ * static_cast<size_t>(image_chunks_ - 1) +
                   copy_bytes_ * static_cast<size_t>(image_chunks_ * tile_chunks_);
}

void FilterGrad::run(const FilterGradArgs& args) const {
  if (result_elements() == 0) return;
  if (desc_.batch == 0) {
    std::memset(args.dw, 0, static_cast<size_t>(result_elements() * size_));
    return;
  }
  char* partials = static_cast<char*>(args.scratch);
  char* copies = partials + partial_bytes_ * static_cast<size_t>(image_chunks_ - 1);
  const FixedSplit images{desc_.batch, image_chunks_}, tiles{all_tiles(), tile_chunks_};
  parallel_for(threads_, image_chunks_ * tile_chunks_, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image_chunk = i / tile_chunks_, tile_chunk = i % tile_chunks_;
      Job job{images.begin(image_chunk), images.end(image_chunk), tiles.begin(tile_chunk),
              tiles.end(tile_chunk)};
      job.result = image_chunk == 0
                       ? static_cast<char*>(args.dw)
                       : partials + partial_bytes_ * static_cast<size_t>(image_chunk - 1);
      job.copy = copies + copy_bytes_ * static_cast<size_t>(i);
      run_job(args, job);
    }
  });
  if (image_chunks_ > 1) add_chunks(args);
}

void FilterGrad::run_job(const FilterGradArgs& args, const Job& job) const {
  bool first = true;
  for (int64_t image = job.first_image; image < job.last_image; image += images_) {
    const int64_t images = std::min(images_, job.last_image - image);
    for (int64_t depth = 0; depth < grid_.count[0]; ++depth) {
      for (int64_t row = 0; row < grid_.count[1]; row += band_) {
        run_block(args, job, image, images, depth, row, first);
        first = false;
      }
    }
  }
}

void FilterGrad::run_block(const FilterGradArgs& args, const Job& job, int64_t image,
                           int64_t images, int64_t depth, int64_t row, bool first) const {
  const int64_t rows = std::min(band_, grid_.count[1] - row);
  const char* x = nullptr;
  for (int64_t i = images - 1; i >= 0; --i) {
    x = input_.open(args.x, image + i, depth, row, rows,
                    job.copy + i * input_.copy_elements() * size_);
  }
  const int64_t line = (image * desc_.output[0] + depth) * desc_.output[1] + row;
  const char* dy =
      static_cast<const char*>(args.dy) + line * desc_.output[2] * desc_.filters * size_;
  TileArgs tile_args{.accumulate = first ? 0 : 1};
  const auto tiles = static_cast<int64_t>(tiles_.size());
  for (int64_t i = job.first_tile; i < job.last_tile; ++i) {
    const Tile& tile = tiles_[static_cast<size_t>(i % tiles)];
    const int64_t from = std::max(tile.heights.first, row);
    const int64_t heights = std::min(tile.heights.second, row + rows) - from;
    const bool inside = heights > 0 && depth >= tile.depths.first && depth < tile.depths.second;
    const int64_t count = inside ? images * heights : 0;
    if (count == 0 && !first) continue;
    const int64_t strip = i / tiles % strips_, group = i / tiles / strips_;
    const int64_t filter = group * filters_ + strip * width_;
    tile_args.segments = segments_[tile.segments].data() + (images_ > 1 ? 0 : from - row);
    tile_args.counts = &count;
    tile_args.a = x + (tile.at + group * channels_) * size_;
    tile_args.b = dy + filter * size_;
    tile_args.c = job.result + (tile.first * desc_.filters + filter) * size_;
    (*tile.kernels[strip + 1 == strips_ ? 1 : 0])(tile_args);
  }
}

namespace {

template <class T>
void add_partials(T* to, const char* partials, size_t pitch, int64_t count, int64_t begin,
                  int64_t end) {
  for (int64_t p = 0; p < count; ++p) {
    const T* from = reinterpret_cast<const T*>(partials + static_cast<size_t>(p) * pitch);
    for (int64_t i = begin; i < end; ++i) to[i] += from[i];
  }
}

}  // namespace

void FilterGrad::add_chunks(const FilterGradArgs& args) const {
  const auto* partials = static_cast<const char*>(args.scratch);
  parallel_for(threads_, result_elements(), 16 << 10, [&](int64_t begin, int64_t end) {
    if (desc_.dtype == DType::f64) {
      add_partials(static_cast<double*>(args.dw), partials, partial_bytes_, image_chunks_ - 1,
                   begin, end);
    } else {
      add_partials(static_cast<float*>(args.dw), partials, partial_bytes_, image_chunks_ - 1, begin,
                   end);
    }
  });
}

std::string FilterGrad::describe() const {
  return text("tiles ", tile_rows_, "x", width_, " along pixels, blocks of ",
              images_ > 1 ? images_ : band_, images_ > 1 ? " images" : " rows",
              input_.padded() ? ", padded" : "", ", chunks ", image_chunks_, "x", tile_chunks_);
}

}  // namespace keratin::cpu
