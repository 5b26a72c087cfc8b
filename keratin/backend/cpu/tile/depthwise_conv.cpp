#include "keratin/backend/cpu/tile/depthwise_conv.h"

#include <algorithm>
#include <cstring>

#include "keratin/backend/cpu/levels/depthwise.h"
#include "keratin/backend/cpu/levels/pack.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/backend/cpu/tile/moved.h"
#include "keratin/base/text.h"

namespace keratin::cpu {
namespace {

DepthwisePost depthwise_post(TilePost post) {
  switch (post) {
    case TilePost::bias:
      return DepthwisePost::bias;
    case TilePost::addend:
      return DepthwisePost::addend;
    case TilePost::relu:
      return DepthwisePost::relu;
    default:
      ensure(post == TilePost::cap, "depthwise convolution: no such step after the sum");
      return DepthwisePost::cap;
  }
}

// Neighbouring pixels of a row that see the same taps.
struct Stretch {
  int64_t begin = 0, end = 0;
  std::vector<int64_t> offsets, indices;
};

// One grid, with the stretches of its rows by how far they are from the borders.
struct RowPlan {
  TapGrid grid;
  std::vector<size_t> depth_kinds, height_kinds;
  std::vector<std::vector<Stretch>> rows;  // [depth kind][height kind]

  int64_t count() const { return grid.count[0] * grid.count[1]; }
  const std::vector<Stretch>& stretches(int64_t depth, int64_t height) const {
    return rows[depth_kinds[static_cast<size_t>(depth)] * kind_count(height_kinds) +
                height_kinds[static_cast<size_t>(height)]];
  }
};

std::vector<Stretch> find_stretches(const TapGrid& grid, const Spatial& input, int64_t channels,
                                    int64_t depth, int64_t height) {
  std::vector<Stretch> stretches;
  for (int64_t pixel = 0; pixel < grid.count[2]; ++pixel) {
    Stretch stretch{pixel, pixel + 1};
    for (const auto& tap : grid.taps) {
      const auto& [z, y, x] = tap.offset;
      if (!is_inside(grid, input, 0, z, depth) || !is_inside(grid, input, 1, y, height) ||
          !is_inside(grid, input, 2, x, pixel)) {
        continue;
      }
      stretch.offsets.push_back(((z * input[1] + y) * input[2] + x) * channels);
      stretch.indices.push_back(tap.index);
    }
    if (!stretches.empty() && stretches.back().indices == stretch.indices) {
      stretches.back().end = pixel + 1;
    } else {
      stretches.push_back(std::move(stretch));
    }
  }
  return stretches;
}

RowPlan plan_rows(TapGrid grid, const Spatial& input, int64_t channels) {
  RowPlan plan{.grid = std::move(grid)};
  plan.depth_kinds = kinds_along(plan.grid, input, 0, 1);
  plan.height_kinds = kinds_along(plan.grid, input, 1, 1);
  plan.rows.resize(kind_count(plan.depth_kinds) * kind_count(plan.height_kinds));
  for (int64_t depth = 0; depth < plan.grid.count[0]; ++depth) {
    for (int64_t height = 0; height < plan.grid.count[1]; ++height) {
      auto& row = const_cast<std::vector<Stretch>&>(plan.stretches(depth, height));
      if (row.empty()) row = find_stretches(plan.grid, input, channels, depth, height);
    }
  }
  return plan;
}

// What both directions share: where a row's first pixel and tap are, and where it goes.
struct Walk {
  Spatial input, output;
  int64_t channels, size;

  int64_t from(const TapGrid& grid, int64_t image, int64_t depth, int64_t height) const {
    const int64_t z = grid.from[0] + depth * grid.move[0];
    const int64_t y = grid.from[1] + height * grid.move[1];
    return ((image * input[0] + z) * input[1] + y) * input[2] + grid.from[2];
  }
  int64_t to(const TapGrid& grid, int64_t image, int64_t depth, int64_t height) const {
    const int64_t z = grid.first[0] + depth * grid.step[0];
    const int64_t y = grid.first[1] + height * grid.step[1];
    return ((image * output[0] + z) * output[1] + y) * output[2] + grid.first[2];
  }

  // The pixels of one stretch; y is where they go, or what they are multiplied by.
  DepthwiseRow row(const TapGrid& grid, const Stretch& stretch, const void* x, int64_t from,
                   void* y, int64_t to) const {
    DepthwiseRow row{};
    row.x = moved(x, (from + stretch.begin * grid.move[2]) * channels * size);
    row.y = moved(y, (to + stretch.begin * grid.step[2]) * channels * size);
    row.pixels = stretch.end - stretch.begin;
    row.channels = channels;
    row.x_step = grid.move[2] * channels;
    row.y_step = grid.step[2] * channels;
    row.offsets = stretch.offsets.data();
    row.indices = stretch.indices.data();
    row.taps = static_cast<int64_t>(stretch.indices.size());
    return row;
  }
};

class DepthwiseConv final : public Conv {
 public:
  DepthwiseConv(const ConvDesc& desc, ConvDirection direction, const ConvOptions& options)
      : forward_(direction == ConvDirection::forward),
        desc_(desc),
        options_(options),
        walk_{desc.input, desc.output, desc.channels, static_cast<int64_t>(size_of(desc.dtype))} {
    std::vector<TapGrid> grids = forward_ ? std::vector{forward_grid(desc)} : backward_grids(desc);
    if (forward_) {
      for (const TilePost post : desc.post) post_.push_back(depthwise_post(post));
    } else {
      std::swap(walk_.input, walk_.output);
    }
    for (TapGrid& grid : grids) {
      if (grid.empty()) continue;
      plans_.push_back(plan_rows(std::move(grid), walk_.input, desc.channels));
    }
  }

  size_t scratch_bytes() const override { return 0; }
  std::string describe() const override { return "depthwise rows"; }

  void run(const ConvArgs& args) const override {
    for (const RowPlan& plan : plans_) {
      parallel_for(options_.threads, desc_.batch * plan.count(), 1,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) run_row(args, plan, i);
                   });
    }
  }

 private:
  void run_row(const ConvArgs& args, const RowPlan& plan, int64_t index) const {
    const int64_t height = index % plan.grid.count[1];
    const int64_t depth = index / plan.grid.count[1] % plan.grid.count[0];
    const int64_t image = index / plan.count();
    const int64_t from = walk_.from(plan.grid, image, depth, height);
    const int64_t to = walk_.to(plan.grid, image, depth, height);
    const auto kernel = routines<DepthwiseRoutines>(options_.level).row[desc_.dtype];
    for (const Stretch& stretch : plan.stretches(depth, height)) {
      DepthwiseRow row =
          walk_.row(plan.grid, stretch, forward_ ? args.x : args.y, from, args.result, to);
      row.w = args.filter;
      row.bias = args.bias;
      row.addend = moved(args.addend, static_cast<char*>(row.y) - static_cast<char*>(args.result));
      row.post = post_.data();
      row.posts = static_cast<int64_t>(post_.size());
      row.cap = desc_.cap;
      kernel(row);
    }
    if (desc_.hook && forward_) {
      args.hook.run(args.hook.context, to, plan.grid.count[2], 0, desc_.channels);
    }
  }

  bool forward_;
  ConvDesc desc_;
  ConvOptions options_;
  Walk walk_;
  std::vector<RowPlan> plans_;
  std::vector<DepthwisePost> post_;
};

// Images are summed in chunks that do not depend on the number of threads.
class DepthwiseFilterGrad final : public Conv {
 public:
  DepthwiseFilterGrad(const ConvDesc& desc, const ConvOptions& options)
      : desc_(desc),
        options_(options),
        walk_{desc.input, desc.output, desc.channels, static_cast<int64_t>(size_of(desc.dtype))},
        elements_(desc.taps() * desc.channels),
        wide_(desc.dtype == DType::f64 ? 8 : 4) {
    const TapGrid grid = forward_grid(desc);
    if (!grid.empty()) plan_ = plan_rows(grid, desc.input, desc.channels);
    split_ = fixed_split(grid.empty() ? 0 : desc.batch * plan_.count(), 16);
  }

  size_t scratch_bytes() const override {
    return static_cast<size_t>(split_.chunks * elements_ * wide_);
  }
  std::string describe() const override { return "depthwise rows"; }

  void run(const ConvArgs& args) const override {
    parallel_for(options_.threads, split_.chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t chunk = begin; chunk < end; ++chunk) sum_rows(args, chunk);
    });
    char* sums = chunk_at(args, 0);
    for (int64_t chunk = 1; chunk < split_.chunks; ++chunk) add(sums, chunk_at(args, chunk));
    routines<PackRoutines>(options_.level)
        .unpack[desc_.dtype]({sums, args.result, 1, elements_, 0, 0});
  }

 private:
  char* chunk_at(const ConvArgs& args, int64_t chunk) const {
    return static_cast<char*>(args.scratch) + chunk * elements_ * wide_;
  }

  void add(char* to, const char* from) const {
    for (int64_t i = 0; i < elements_; ++i) {
      if (wide_ == 8) {
        reinterpret_cast<double*>(to)[i] += reinterpret_cast<const double*>(from)[i];
      } else {
        reinterpret_cast<float*>(to)[i] += reinterpret_cast<const float*>(from)[i];
      }
    }
  }

  void sum_rows(const ConvArgs& args, int64_t chunk) const {
    const auto kernel = routines<DepthwiseRoutines>(options_.level).grad_row[desc_.dtype];
    char* sums = chunk_at(args, chunk);
    std::memset(sums, 0, static_cast<size_t>(elements_ * wide_));
    for (int64_t i = split_.begin(chunk); i < split_.end(chunk); ++i) {
      const int64_t height = i % plan_.grid.count[1];
      const int64_t depth = i / plan_.grid.count[1] % plan_.grid.count[0];
      const int64_t image = i / plan_.count();
      const int64_t from = walk_.from(plan_.grid, image, depth, height);
      const int64_t to = walk_.to(plan_.grid, image, depth, height);
      for (const Stretch& stretch : plan_.stretches(depth, height)) {
        // Read only; the arguments of the routine serve the other directions too.
        kernel(walk_.row(plan_.grid, stretch, args.x, from, const_cast<void*>(args.y), to), sums);
      }
    }
  }

  ConvDesc desc_;
  ConvOptions options_;
  Walk walk_;
  int64_t elements_, wide_;
  RowPlan plan_;
  FixedSplit split_{0, 1};
};

}  // namespace

bool is_depthwise(const ConvDesc& desc) {
  return desc.groups > 1 && desc.groups == desc.channels && desc.groups == desc.filters;
}

std::unique_ptr<Conv> make_depthwise(const ConvDesc& desc, ConvDirection direction,
                                     const ConvOptions& options) {
  if (direction == ConvDirection::grad_filter) {
    return std::make_unique<DepthwiseFilterGrad>(desc, options);
  }
  return std::make_unique<DepthwiseConv>(desc, direction, options);
}

}  // namespace keratin::cpu
