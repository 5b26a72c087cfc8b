#include "keratin/layers/image_ranges.h"

#include <algorithm>
#include <cmath>

#include "keratin/base/text.h"

namespace keratin::images {
namespace {

// As Python writes it: 0.2 or (0.1, 0.2).
std::string python(const Numbers& factor) {
  if (factor.single()) return factor.to_json().dump();
  std::string all;
  for (const double value : factor.values())
    all += text(all.empty() ? "" : ", ", Json(value).dump());
  return "(" + all + ")";
}

struct Bounds {
  std::string_view message;
  double lowest, highest;
  bool open = false;  // the lowest itself is outside
};

Range checked(const Numbers& factor, std::string_view name, const Bounds& bounds) {
  const auto& ends = factor.values();
  require(factor.single() || ends.size() == 2, bounds.message, "Received: ", name, "=",
          python(factor));
  for (const double end : ends)
    require(end <= bounds.highest && (bounds.open ? end > bounds.lowest : end >= bounds.lowest),
            bounds.message, "Received: input_number=", Json(end).dump());
  if (factor.single()) return {-std::fabs(ends[0]), std::fabs(ends[0])};
  return {std::min(ends[0], ends[1]), std::max(ends[0], ends[1])};
}

}  // namespace

Range range_of(const Numbers& factor, std::string_view name, double lowest, double highest) {
  const auto& ends = factor.values();
  const auto ok = [&] {
    if (factor.single()) return ends[0] >= lowest && ends[0] <= highest;
    return ends.size() == 2 && ends[0] <= highest && ends[1] >= lowest;
  };
  require(ok(), "The `", name,
          "` argument should be a number (or a list of two numbers) in the range [", lowest, ", ",
          highest, "]. Received: factor=", python(factor));
  if (factor.single()) return {std::max(-std::fabs(ends[0]), lowest), std::fabs(ends[0])};
  return {std::min(ends[0], ends[1]), std::max(ends[0], ends[1])};
}

Range translation_range(const Numbers& factor, std::string_view name) {
  return checked(
      factor, name,
      {"The `factor` argument should be a number (or a list of two numbers) in the range "
       "[-1.0, 1.0]. ",
       -1, 1});
}

Range zoom_range(const Numbers& factor, std::string_view name) {
  return checked(factor, name,
                 {"The `height_factor` and `width_factor` arguments should be a number (or a list "
                  "of two numbers) in the range (-1.0, 1.0]. ",
                  -1, 1, true});
}

Range shear_range(const Numbers& factor, std::string_view name) {
  // Keras saves x as [-x, x], which it does not read again.
  const auto& ends = factor.values();
  if (!factor.single() && ends.size() == 2 && ends[0] == -ends[1])
    return shear_range(ends[1], name);
  return checked(
      factor, name,
      {"The `factor` argument should be a number (or a list of two numbers) in the range "
       "[0, 1.0]. ",
       0, 1});
}

void check_interpolation(const std::string& interpolation) {
  require(interpolation == "nearest" || interpolation == "bilinear", "Unknown `interpolation` ",
          interpolation, ". Expected of one ('nearest', 'bilinear').");
}

void check_fill(const std::string& fill_mode, const std::string& interpolation) {
  constexpr std::string_view known[] = {"reflect", "wrap", "constant", "nearest"};
  require(std::find(std::begin(known), std::end(known), fill_mode) != std::end(known),
          "Unknown `fill_mode` ", fill_mode,
          ". Expected of one ('reflect', 'wrap', 'constant', 'nearest').");
  check_interpolation(interpolation);
}

}  // namespace keratin::images
