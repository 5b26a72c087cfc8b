#pragma once

#include <cstddef>
#include <vector>

#include "keratin/backend/cpu/tile/tap_grid.h"

namespace keratin::cpu {

// How the taps of a grid find their pixels: in place, or, when some reach over the border, in a
// copy of a band of rows with zeros around it. Pitches count elements.
class TapInput {
 public:
  TapInput() = default;
  // With `in_place` nothing is copied, and the caller skips taps that are outside.
  TapInput(const TapGrid& grid, const Spatial& input, int64_t channels, int64_t element_size,
           bool in_place);

  bool padded() const { return padded_; }
  int64_t channels() const { return channels_; }
  int64_t row_pitch() const { return row_pitch_; }
  int64_t image_pitch() const { return input_[0] * input_[1] * input_[2] * channels_; }
  // Rows that `rows` rows of pixels read, and their bytes, all planes together.
  int64_t rows_read(int64_t rows) const;
  int64_t bytes_read(int64_t rows) const;
  // Limits the height of the bands that follow.
  void set_band(int64_t rows);
  int64_t copy_elements() const;  // of one band; 0 when read in place

  // From the address of tap (0, 0, 0) for a pixel to that of another tap, and to the next row.
  int64_t tap_offset(const Spatial& offset) const;
  int64_t next_row() const { return grid_.move[1] * row_pitch_; }
  int64_t next_pixel() const { return grid_.move[2] * channels_; }

  // Makes the rows [row, row + rows) of plane `depth` of an image ready to read; returns the
  // address of the first tap for the first pixel. `copy` has room for copy_elements().
  const char* open(const void* input, int64_t image, int64_t depth, int64_t row, int64_t rows,
                   char* copy) const;

 private:
  void copy_plane(const void* input, int64_t image, int64_t z, int64_t y, int64_t rows,
                  char* to) const;

  TapGrid grid_;
  Spatial input_{1, 1, 1};
  int64_t channels_ = 0, size_ = 4;
  bool padded_ = false;
  std::vector<int64_t> planes_;  // distinct depth offsets
  int64_t width_ = 0;            // pixels of a row of the copy
  int64_t row_pitch_ = 0, plane_pitch_ = 0;
};

}  // namespace keratin::cpu
