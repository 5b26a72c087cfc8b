#include "keratin/backend/cpu/tile/tap_input.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "keratin/backend/cpu/tile/moved.h"

namespace keratin::cpu {

TapInput::TapInput(const TapGrid& grid, const Spatial& input, int64_t channels,
                   int64_t element_size, bool in_place)
    : grid_(grid), input_(input), channels_(channels), size_(element_size) {
  std::set<int64_t> planes;
  for (const auto& tap : grid.taps) planes.insert(tap.offset[0]);
  planes_.assign(planes.begin(), planes.end());
  padded_ = !in_place && reaches_outside(grid, input);
  width_ = (grid.count[2] - 1) * grid.move[2] + grid.extent[2];
  row_pitch_ = (padded_ ? width_ : input[2]) * channels;
  set_band(grid.count[1]);
}

int64_t TapInput::rows_read(int64_t rows) const {
  return (rows - 1) * grid_.move[1] + grid_.extent[1];
}

int64_t TapInput::bytes_read(int64_t rows) const {
  return static_cast<int64_t>(planes_.size()) * rows_read(rows) * row_pitch_ * size_;
}

void TapInput::set_band(int64_t rows) {
  plane_pitch_ = (padded_ ? rows_read(rows) : input_[1]) * row_pitch_;
}

int64_t TapInput::copy_elements() const {
  return padded_ ? static_cast<int64_t>(planes_.size()) * plane_pitch_ : 0;
}

int64_t TapInput::tap_offset(const Spatial& offset) const {
  int64_t plane = offset[0];
  if (padded_) {
    plane = std::lower_bound(planes_.begin(), planes_.end(), offset[0]) - planes_.begin();
  }
  return plane * plane_pitch_ + offset[1] * row_pitch_ + offset[2] * channels_;
}

const char* TapInput::open(const void* input, int64_t image, int64_t depth, int64_t row,
                           int64_t rows, char* copy) const {
  const int64_t z = grid_.from[0] + depth * grid_.move[0];
  const int64_t y = grid_.from[1] + row * grid_.move[1];
  if (!padded_) {
    const int64_t line = (image * input_[0] + z) * input_[1] + y;
    return moved(input, (line * input_[2] + grid_.from[2]) * channels_ * size_);
  }
  for (size_t p = 0; p < planes_.size(); ++p) {
    copy_plane(input, image, z + planes_[p], y, rows_read(rows),
               copy + static_cast<int64_t>(p) * plane_pitch_ * size_);
  }
  return copy;
}

void TapInput::copy_plane(const void* input, int64_t image, int64_t z, int64_t y, int64_t rows,
                          char* to) const {
  const auto pixel = static_cast<size_t>(channels_ * size_);
  const int64_t left = std::clamp<int64_t>(-grid_.from[2], 0, width_);
  const int64_t first = grid_.from[2] + left;
  const int64_t inside = std::clamp<int64_t>(input_[2] - first, 0, width_ - left);
  const int64_t right = width_ - left - inside;
  for (int64_t r = 0; r < rows; ++r, to += row_pitch_ * size_) {
    if (z < 0 || z >= input_[0] || y + r < 0 || y + r >= input_[1]) {
      std::memset(to, 0, static_cast<size_t>(width_) * pixel);
      continue;
    }
    const int64_t line = (image * input_[0] + z) * input_[1] + y + r;
    const char* from = moved(input, (line * input_[2] + first) * channels_ * size_);
    std::memset(to, 0, static_cast<size_t>(left) * pixel);
    if (inside > 0) {
      std::memcpy(to + static_cast<size_t>(left) * pixel, from,
                  static_cast<size_t>(inside) * pixel);
    }
    std::memset(to + static_cast<size_t>(left + inside) * pixel, 0,
                static_cast<size_t>(right) * pixel);
  }
}

}  // namespace keratin::cpu
