#include "keratin/backend/cpu/tile/tap_grid.h"

#include <algorithm>
#include <map>

#include "keratin/base/divide.h"

namespace keratin::cpu {
namespace {

// One dimension of a grid.
struct Line {
  int64_t first = 0, step = 1, count = 0, from = 0, move = 1;
  std::vector<std::pair<int64_t, int64_t>> taps;  // offset, index in the filter
};

Line forward_line(const ConvDesc& desc, size_t d) {
  Line line{.count = desc.output[d], .from = -desc.pad[d], .move = desc.stride[d]};
  for (int64_t k = 0; k < desc.kernel[d]; ++k) line.taps.emplace_back(k * desc.dilation[d], k);
  return line;
}

// x is read at i = o stride + k dilation - pad. With i + pad = q stride + r, the taps that reach i
// have k dilation = r (mod stride), and each reads o = q - (k dilation - r) / stride.
Line backward_line(const ConvDesc& desc, size_t d, int64_t r) {
  const int64_t stride = desc.stride[d], pad = desc.pad[d];
  const int64_t q = ceil_div(pad - r, stride);
  const int64_t end = floor_div(desc.input[d] - 1 + pad - r, stride) + 1;
  Line line{.first = q * stride + r - pad, .step = stride, .count = std::max<int64_t>(end - q, 0)};
  line.from = q;
  for (int64_t k = desc.kernel[d] - 1; k >= 0; --k) {
    const int64_t reach = k * desc.dilation[d] - r;
    if (reach % stride == 0) line.taps.emplace_back(-reach / stride, k);
  }
  if (line.taps.empty()) return line;
  const int64_t lowest = line.taps.front().first;
  for (auto& tap : line.taps) tap.first -= lowest;
  line.from += lowest;
  return line;
}

// The remainders r that pixels of x have. A stride may be far larger than x.
std::vector<int64_t> remainders(const ConvDesc& desc, size_t d) {
  const int64_t stride = desc.stride[d];
  std::vector<int64_t> found;
  for (int64_t i = 0; i < std::min(desc.input[d], stride); ++i) {
    const int64_t position = i + desc.pad[d];
    found.push_back(position - floor_div(position, stride) * stride);
  }
  std::sort(found.begin(), found.end());
  return found;
}

TapGrid cross(const ConvDesc& desc, const std::array<Line, 3>& lines) {
  TapGrid grid;
  for (size_t d = 0; d < 3; ++d) {
    grid.first[d] = lines[d].first;
    grid.step[d] = lines[d].step;
    grid.count[d] = lines[d].count;
    grid.from[d] = lines[d].from;
    grid.move[d] = lines[d].move;
    grid.extent[d] = lines[d].taps.empty() ? 0 : lines[d].taps.back().first + 1;
  }
  for (const auto& [z, kz] : lines[0].taps) {
    for (const auto& [y, ky] : lines[1].taps) {
      for (const auto& [x, kx] : lines[2].taps) {
        const int64_t index = (kz * desc.kernel[1] + ky) * desc.kernel[2] + kx;
        grid.taps.push_back({{z, y, x}, index});
      }
    }
  }
  return grid;
}

}  // namespace

bool is_inside(const TapGrid& grid, const Spatial& input, size_t d, int64_t offset, int64_t q) {
  const int64_t at = grid.from[d] + q * grid.move[d] + offset;
  return at >= 0 && at < input[d];
}

std::pair<int64_t, int64_t> places_inside(const TapGrid& grid, const Spatial& input, size_t d,
                                          int64_t offset) {
  const int64_t start = grid.from[d] + offset;
  const int64_t first = std::clamp<int64_t>(ceil_div(-start, grid.move[d]), 0, grid.count[d]);
  const int64_t end = floor_div(input[d] - 1 - start, grid.move[d]) + 1;
  return {first, std::clamp<int64_t>(end, first, grid.count[d])};
}

bool reaches_outside(const TapGrid& grid, const Spatial& input) {
  for (size_t d = 0; d < 3; ++d) {
    const int64_t end = grid.from[d] + (grid.count[d] - 1) * grid.move[d] + grid.extent[d];
    if (!grid.taps.empty() && (grid.from[d] < 0 || end > input[d])) return true;
  }
  return false;
}

std::vector<size_t> kinds_along(const TapGrid& grid, const Spatial& input, size_t d, int64_t step) {
  std::map<std::pair<int64_t, std::vector<bool>>, size_t> found;
  std::vector<size_t> kinds;
  for (int64_t position = 0; position < grid.count[d]; position += step) {
    const int64_t last = std::min(position + step, grid.count[d]);
    std::vector<bool> taps;
    for (int64_t q = position; q < last; ++q) {
      for (int64_t o = 0; o < grid.extent[d]; ++o) taps.push_back(is_inside(grid, input, d, o, q));
    }
    kinds.push_back(found.emplace(std::pair(last - position, taps), found.size()).first->second);
  }
  return kinds;
}

size_t kind_count(const std::vector<size_t>& kinds) {
  return *std::max_element(kinds.begin(), kinds.end()) + 1;
}

TapGrid forward_grid(const ConvDesc& desc) {
  return cross(desc, {forward_line(desc, 0), forward_line(desc, 1), forward_line(desc, 2)});
}

std::vector<TapGrid> backward_grids(const ConvDesc& desc) {
  std::vector<TapGrid> grids;
  for (const int64_t z : remainders(desc, 0)) {
    for (const int64_t y : remainders(desc, 1)) {
      for (const int64_t x : remainders(desc, 2)) {
        TapGrid grid = cross(desc, {backward_line(desc, 0, z), backward_line(desc, 1, y),
                                    backward_line(desc, 2, x)});
        if (!grid.empty()) grids.push_back(std::move(grid));
      }
    }
  }
  return grids;
}

}  // namespace keratin::cpu
