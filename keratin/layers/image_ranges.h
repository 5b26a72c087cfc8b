#pragma once

#include "keratin/graph/config.h"

// Ranges that random layers of images draw from, with Keras's checks and messages.
namespace keratin::images {

struct Range {
  double low = 0, high = 0;
  Numbers numbers() const { return {low, high}; }
};

// As most layers read a factor: two numbers, of which one may lie outside of the bounds, or one
// number x for [-x, x] within the bounds.
Range range_of(const Numbers& factor, std::string_view name, double lowest, double highest);
// As RandomTranslation, RandomZoom and RandomShear read theirs: each number must be inside.
Range translation_range(const Numbers& factor, std::string_view name);
Range zoom_range(const Numbers& factor, std::string_view name);
Range shear_range(const Numbers& factor, std::string_view name);

void check_fill(const std::string& fill_mode, const std::string& interpolation);
void check_interpolation(const std::string& interpolation);

}  // namespace keratin::images
