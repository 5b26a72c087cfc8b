#include "keratin/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numbers>
#include <vector>

#include "keratin/base/text.h"

namespace keratin::image {
namespace {

// The inputs of one output pixel along one axis: weighted pixels from `start` on.
struct Span {
  int64_t start = 0;
  std::vector<float> weights = {};
};
using Spans = std::vector<Span>;

struct Filter {
  std::string_view name;
  double radius;
  double (*weight)(double distance);
};

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return angle == 0 ? 1 : std::sin(angle) / angle;
}

// Mitchell and Netravali's family of piecewise cubic filters.
double cubic(double x, double b, double c) {
  if (x < 1)
    return ((12 - 9 * b - 6 * c) * x * x * x + (-18 + 12 * b + 6 * c) * x * x + (6 - 2 * b)) / 6;
  return ((-b - 6 * c) * x * x * x + (6 * b + 30 * c) * x * x + (-12 * b - 48 * c) * x +
          (8 * b + 24 * c)) /
         6;
}

constexpr Filter filters[] = {
    {"bilinear", 1, [](double x) { return 1 - x; }},
    {"bicubic", 2, [](double x) { return cubic(x, 0, 0.5); }},
    {"lanczos3", 3, [](double x) { return sinc(x) * sinc(x / 3); }},
    {"lanczos5", 5, [](double x) { return sinc(x) * sinc(x / 5); }},
    {"gaussian", 1.5, [](double x) { return std::exp(-2 * x * x); }},  // standard deviation 0.5
    {"mitchellcubic", 2, [](double x) { return cubic(x, 1.0 / 3, 1.0 / 3); }},
};

// The span of an output pixel under a filter. Positions have single precision, as in TensorFlow:
// rounding decides which pixels are nearest.
Span filtered(const Filter& filter, int64_t position, int64_t in, float scale) {
  const double middle = (static_cast<float>(position) + 0.5f) * scale;
  const auto first = static_cast<int64_t>(std::ceil(middle - filter.radius - 0.5));
  const auto last = static_cast<int64_t>(std::floor(middle + filter.radius - 0.5));
  Span span{.start = std::clamp<int64_t>(first, 0, in - 1)};
  double sum = 0;
  for (int64_t i = span.start; i <= std::clamp<int64_t>(last, 0, in - 1); ++i) {
    const double distance = std::abs(static_cast<double>(i) + 0.5 - middle);
    const double weight = distance < filter.radius ? filter.weight(distance) : 0;
    span.weights.push_back(static_cast<float>(weight));
    sum += weight;
  }
  for (float& weight : span.weights) weight = static_cast<float>(weight / sum);
  return span;
}

// The span of an output pixel that is the mean over the area it covers.
Span covered(int64_t position, int64_t in, float scale) {
  const float from = static_cast<float>(position) * scale;
  const float to = static_cast<float>(position + 1) * scale;
  const auto first = static_cast<int64_t>(from);
  const auto last = std::min(in, static_cast<int64_t>(std::ceil(to)));
  Span span{.start = std::min(first, in - 1)};
  for (int64_t i = span.start; i < std::max(last, span.start + 1); ++i) {
    const float begin = std::max(from, static_cast<float>(i));
    const float end = std::min(to, static_cast<float>(i + 1));
    span.weights.push_back((end - begin) / scale);
  }
  return span;
}

// Input pixels per output pixel, rounded as in TensorFlow: its newer kernels take the inverse.
float scale_of(int64_t in, int64_t out, const std::string& interpolation) {
  const auto inputs = static_cast<float>(in), outputs = static_cast<float>(out);
  const bool newer = interpolation.starts_with("lanczos") || interpolation == "gaussian" ||
                     interpolation == "mitchellcubic";
  return newer ? 1 / (outputs / inputs) : inputs / outputs;
}

Spans spans(int64_t in, int64_t out, const std::string& interpolation) {
  const float scale = scale_of(in, out, interpolation);
  Spans all;
  for (int64_t i = 0; i < out; ++i) {
    if (interpolation == "nearest") {
      const auto nearest = static_cast<int64_t>((static_cast<float>(i) + 0.5f) * scale);
      all.push_back({std::min(nearest, in - 1), {1.0f}});
    } else if (interpolation == "area") {
      all.push_back(covered(i, in, scale));
    } else {
      const auto* filter = std::find_if(std::begin(filters), std::end(filters),
                                        [&](const Filter& f) { return f.name == interpolation; });
      all.push_back(filtered(*filter, i, in, scale));
    }
  }
  return all;
}

}  // namespace

void check_interpolation(const std::string& name) {
  std::string known = "nearest, area";
  for (const Filter& filter : filters) {
    if (filter.name == name) return;
    known += text(", ", filter.name);
  }
  require(name == "nearest" || name == "area", "Argument `interpolation` should be one of ", known,
          ". Received: interpolation=", name);
}

// Each output row is computed in two steps: input rows are mixed, then columns of the mixed row.
Tensor resize(const Tensor& image, int64_t height, int64_t width,
              const std::string& interpolation) {
  check_interpolation(interpolation);
  require(height > 0 && width > 0, "image: expected a positive size, got ", height, " x ", width);
  const int64_t columns = image.shape()[1], channels = image.shape()[2];
  const auto row_size = static_cast<size_t>(columns * channels);
  const Spans down = spans(image.shape()[0], height, interpolation);
  const Spans along = spans(columns, width, interpolation);
  Tensor out(DType::f32, {height, width, channels});
  const auto from = image.data<uint8_t>();
  float* to = out.data<float>().data();
  std::vector<float> row(row_size);
  for (const Span& rows : down) {
    std::fill(row.begin(), row.end(), 0.0f);
    for (size_t i = 0; i < rows.weights.size(); ++i) {
      const uint8_t* line = &from[(static_cast<size_t>(rows.start) + i) * row_size];
      for (size_t x = 0; x < row_size; ++x) row[x] += rows.weights[i] * static_cast<float>(line[x]);
    }
    for (const Span& pixels : along)
      for (int64_t c = 0; c < channels; ++c) {
        float sum = 0;
        for (size_t i = 0; i < pixels.weights.size(); ++i)
          sum += pixels.weights[i] *
                 row[(static_cast<size_t>(pixels.start) + i) * static_cast<size_t>(channels) +
                     static_cast<size_t>(c)];
        *to++ = sum;
      }
  }
  return out;
}

Tensor crop_to_ratio(const Tensor& image, int64_t height, int64_t width) {
  const int64_t rows = image.shape()[0], columns = image.shape()[1], channels = image.shape()[2];
  const auto fitting = [](int64_t other, int64_t wanted, int64_t by, int64_t have) {
    const auto fits =
        static_cast<int64_t>(static_cast<float>(other * wanted) / static_cast<float>(by));
    return std::max<int64_t>(std::min(have, fits), 1);
  };
  const int64_t kept_rows = fitting(columns, height, width, rows);
  const int64_t kept_columns = fitting(rows, width, height, columns);
  const int64_t top = (rows - kept_rows) / 2, left = (columns - kept_columns) / 2;
  Tensor out(DType::u8, {kept_rows, kept_columns, channels});
  const auto line = static_cast<size_t>(kept_columns * channels);
  for (int64_t y = 0; y < kept_rows; ++y)
    std::memcpy(
        &out.data<uint8_t>()[static_cast<size_t>(y) * line],
        &image.data<uint8_t>()[static_cast<size_t>(((top + y) * columns + left) * channels)], line);
  return out;
}

Tensor resize_with_pad(const Tensor& image, int64_t height, int64_t width,
                       const std::string& interpolation) {
  const auto rows = static_cast<float>(image.shape()[0]),
             columns = static_cast<float>(image.shape()[1]);
  const auto target_rows = static_cast<float>(height), target_columns = static_cast<float>(width);
  const float ratio = std::max(columns / target_columns, rows / target_rows);
  const auto size = [&](float have, int64_t limit) {
    return std::clamp<int64_t>(static_cast<int64_t>(have / ratio), 1, limit);
  };
  const Tensor inner = resize(image, size(rows, height), size(columns, width), interpolation);
  const auto margin = [&](float target, float have, int64_t room) {
    return std::clamp<int64_t>(static_cast<int64_t>((target - have / ratio) / 2), 0, room);
  };
  const int64_t top = margin(target_rows, rows, height - inner.shape()[0]);
  const int64_t left = margin(target_columns, columns, width - inner.shape()[1]);
  Tensor out = Tensor::zeros(DType::f32, {height, width, image.shape()[2]});
  const auto line = static_cast<size_t>(inner.shape()[1] * inner.shape()[2]);
  for (int64_t y = 0; y < inner.shape()[0]; ++y)
    std::copy_n(
        &inner.data<float>()[static_cast<size_t>(y) * line], line,
        &out.data<float>()[static_cast<size_t>(((top + y) * width + left) * image.shape()[2])]);
  return out;
}

Tensor channels_first(const Tensor& image) {
  const int64_t height = image.shape()[0], width = image.shape()[1], channels = image.shape()[2];
  Tensor out(image.dtype(), {channels, height, width});
  const auto from = image.data<float>();
  const auto to = out.data<float>();
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < height * width; ++i)
      to[static_cast<size_t>(c * height * width + i)] = from[static_cast<size_t>(i * channels + c)];
  return out;
}

}  // namespace keratin::image
