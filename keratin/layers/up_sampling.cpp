#include "keratin/layers/up_sampling.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/image.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

// The factors, one for each axis; an error if one is not positive.
Sizes factors(const Sizes& size, size_t count, std::string_view who) {
  const Dims all = size.expand(count, who);
  for (const int64_t factor : all)
    require(factor > 0, "Argument `size` of ", who,
            " should be a positive integer. Received: size=", size.to_json());
  return all;
}

Value repeat_axes(Value x, const Dims& counts, int64_t first) {
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != 1) x = ops::repeat(x, counts[i], first + static_cast<int64_t>(i));
  return x;
}

// The range of an integer dtype or of bool, as floats that convert to it without overflow.
std::pair<double, double> range_of(DType dtype) {
  if (dtype == DType::boolean) return {0, 1};
  const bool is_signed = dtype == DType::i8 || dtype == DType::i32 || dtype == DType::i64;
  const int bits = static_cast<int>(size_of(dtype)) * 8 - (is_signed ? 1 : 0);
  const double end = std::ldexp(1, bits);
  return {is_signed ? -end : 0, bits > 24 ? end - std::ldexp(1, bits - 24) : end - 1};
}

// Resizes integers as Keras does: in floats, rounded, clipped to the range of the dtype.
Value resized(Value x, const ops::ResizeAttrs& attrs, const std::string& data_format) {
  if (is_float(x.dtype())) return ops::resize(x, attrs, data_format);
  const auto [low, high] = range_of(x.dtype());
  const Value all = ops::round(ops::resize(ops::cast(x, DType::f32), attrs, data_format));
  return ops::cast(ops::clip(all, low, high), x.dtype());
}

}  // namespace

UpSampling1DLayer::UpSampling1DLayer(UpSampling1DConfig config, LayerOptions options)
    : LayerOf(config, std::move(options)) {
  factors(cfg.size, 1, cfg.keras_name);
  set_input_spec({{.ndim = 3}});
}

Results UpSampling1DLayer::call(const Call& c) const {
  return repeat_axes(c.input(), {cfg.size}, 1);
}

UpSampling2DLayer::UpSampling2DLayer(UpSampling2DConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  cfg.size = factors(cfg.size, 2, cfg.keras_name);
  cfg.data_format = windows::data_format(cfg.data_format);
  constexpr std::array<std::string_view, 5> known = {"nearest", "bilinear", "bicubic", "lanczos3",
                                                     "lanczos5"};
  require(std::find(known.begin(), known.end(), cfg.interpolation) != known.end(),
          "`interpolation` of UpSampling2D must be one of nearest, bilinear, bicubic, lanczos3, "
          "lanczos5. Received: interpolation=",
          cfg.interpolation);
  set_input_spec({{.ndim = 4}});
}

Results UpSampling2DLayer::call(const Call& c) const {
  const int64_t first = detail::first_spatial_axis(cfg.data_format);
  const Dims& size = cfg.size.dims();
  if (cfg.interpolation == "nearest") return repeat_axes(c.input(), size, first);
  const Value x = c.input();
  const int64_t height = x.shape()[first], width = x.shape()[first + 1];
  require(height != unknown && width != unknown, "UpSampling2D '", name(),
          "': height and width must be known to interpolate, got shape ", keras_shape(x.shape()));
  constexpr int64_t max_size = int64_t{1} << 31;
  require(size[0] <= max_size / std::max<int64_t>(1, height) &&
              size[1] <= max_size / std::max<int64_t>(1, width),
          "UpSampling2D '", name(), "': expected at most ", max_size,
          " rows and columns, got size=", windows::tuple(size), " for shape ",
          keras_shape(x.shape()));
  return resized(x, {.size = {height * size[0], width * size[1]}, .method = cfg.interpolation},
                 cfg.data_format);
}

UpSampling3DLayer::UpSampling3DLayer(UpSampling3DConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  cfg.size = factors(cfg.size, 3, cfg.keras_name);
  cfg.data_format = windows::data_format(cfg.data_format);
  set_input_spec({{.ndim = 5}});
}

Results UpSampling3DLayer::call(const Call& c) const {
  return repeat_axes(c.input(), cfg.size.dims(), detail::first_spatial_axis(cfg.data_format));
}

}  // namespace keratin
