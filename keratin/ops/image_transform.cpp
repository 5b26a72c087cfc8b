#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/image_sampling.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/random.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

void check(std::string_view who, const TransformOptions& options) {
  require(options.interpolation == "nearest" || options.interpolation == "bilinear", who,
          ": Invalid value for argument `interpolation`. Expected of one ('nearest', 'bilinear'). "
          "Received: interpolation=",
          options.interpolation);
  check_fill_mode(who, options.fill_mode);
}

// The part of x that 2 · size long periods leave, mirrored into [0, size).
Value reflected(Value x, double size) {
  const Value rest = x - trunc(x / (2 * size)) * (2 * size);
  const Value below = where(rest < -size, rest + 2 * size, -rest - 1.0);
  const Value beyond = where(rest >= size, 2 * size - rest - 1.0, rest);
  return where(x < 0.0, below, where(x > size - 1, beyond, x));
}

// Positions outside move by whole sizes, but it is size - 1 that decides how often.
Value wrapped(Value x, double size) {
  const Value below = x + (trunc(-x / (size - 1)) + 1.0) * size;
  const Value beyond = x - trunc(x / (size - 1)) * size;
  return where(x < 0.0, below, where(x > size - 1, beyond, x));
}

// Where a position between pixels is read, as TensorFlow has it; a constant border stays outside.
Value moved_inside(Value x, int64_t size, const std::string& fill_mode) {
  if (fill_mode == "constant" || fill_mode == "mirror") return x;
  const double n = static_cast<double>(size);
  if (size > 1 && fill_mode == "reflect") x = reflected(x, n);
  if (size > 1 && fill_mode == "wrap") x = wrapped(x, n);
  return clip(x, 0, n - 1);
}

Sampling sampling_of(const TransformOptions& options) {
  const bool inside = options.fill_mode != "constant" && options.fill_mode != "mirror";
  return {.nearest = options.interpolation == "nearest",
          .border = inside ? "nearest" : options.fill_mode,
          .fill_value = options.fill_value};
}

// Counts 0, 1, 2, … along an axis of [1, height, width].
Value counts(Value images, int64_t axis) {
  Dims shape = {1, 1, 1};
  shape[static_cast<size_t>(axis)] = images.shape()[axis];
  return iota(images.block(), DType::f32, Shape(shape), axis);
}

// Transforms of one image or a batch, as [batch, …] in f32.
Value batch_of_points(std::string_view who, std::string_view name, Value points) {
  const int64_t rank = points.rank();
  require((rank == 2 || rank == 3) &&
              compatible({points.shape()[rank - 2], points.shape().back()}, {4, 2}),
          who, ": Invalid ", name,
          " shape: expected (4,2) for a single image or (N,4,2) for a batch. Received shape: ",
          points.shape());
  return cast(rank == 2 ? expand_dims(points, 0) : points, DType::f32);
}

}  // namespace

void check_fill_mode(std::string_view who, const std::string& fill_mode) {
  constexpr std::string_view known[] = {"constant", "nearest", "wrap", "mirror", "reflect"};
  require(std::find(std::begin(known), std::end(known), fill_mode) != std::end(known), who,
          ": Invalid value for argument `fill_mode`. Expected of one ('constant', 'nearest', "
          "'wrap', 'mirror', 'reflect'). Received: fill_mode=",
          fill_mode);
}

Projection projection_of(Value transforms) {
  const Value all = cast(transforms, DType::f32);
  const auto entry = [&](int64_t i) { return expand_dims(slice_axis(all, 1, i, i + 1), -1); };
  return {entry(0), entry(1), entry(2), entry(3), entry(4), entry(5), entry(6), entry(7)};
}

Value project(Value images, const Projection& by, const TransformOptions& options) {
  const int64_t height = images.shape()[1], width = images.shape()[2];
  const Value y = counts(images, 1), x = counts(images, 2);
  Value to_x = by.a0 * x + by.a1 * y + by.a2, to_y = by.b0 * x + by.b1 * y + by.b2, outside;
  if (by.c0.defined()) {
    const Value k = by.c0 * x + by.c1 * y + 1.0;
    outside = equal(k, scalar_like(k, 0));
    const Value divisor = where(outside, scalar_like(k, 1), k);
    to_x = to_x / divisor, to_y = to_y / divisor;
  }
  const Value result = sample(images, moved_inside(to_y, height, options.fill_mode),
                              moved_inside(to_x, width, options.fill_mode), sampling_of(options));
  if (!outside.defined()) return result;
  return where(expand_dims(outside, -1), scalar_like(result, options.fill_value), result);
}

Value affine_transform(Value images, Value transform, const TransformOptions& options) {
  constexpr std::string_view who = "affine_transform";
  check(who, options);
  require(transform.rank() == 1 || transform.rank() == 2, who,
          ": Invalid transform rank: expected rank 1 (single transform) or rank 2 (batch of "
          "transforms). Received input with shape: transform.shape=",
          transform.shape());
  require(transform.shape().back() == 8 || transform.shape().back() == unknown, who,
          ": expected 8 numbers for each transform, got shape ", transform.shape());
  if (transform.rank() == 1) transform = expand_dims(transform, 0);
  return on_batch(who, images, options.data_format, [&](Value x) {
    if (!x.shape().known() || !transform.shape().known()) return fill_like(x, 0, x.dtype());
    require(transform.shape()[0] == 1 || transform.shape()[0] == x.shape()[0], who, ": expected ",
            x.shape()[0], " transforms or one, got ", transform.shape()[0]);
    return project(x, projection_of(transform), options);
  });
}

// The homography that takes the homogeneous end points e0 … e3 to the start points s0 … s3. Up to a
// factor it is Σ_i w_i s_i (e_j × e_k)ᵀ over (i, j, k) = (0, 1, 2), (1, 2, 0) and (2, 0, 1), with
// w_i = det(s3, s_j, s_k) / det(e3, e_j, e_k).
Value compute_homography_matrix(Value start_points, Value end_points) {
  constexpr std::string_view who = "perspective_transform";
  const Value start = batch_of_points(who, "start_points", start_points);
  const Value end = batch_of_points(who, "end_points", end_points);
  struct Point {
    Value x, y;
  };
  const auto point = [](Value all, int64_t i) {
    const Value row = slice_axis(all, 1, i, i + 1);
    return Point{slice_axis(row, 2, 0, 1), slice_axis(row, 2, 1, 2)};
  };
  // The determinant of three points is that of two differences.
  const auto det = [](const Point& a, const Point& b, const Point& c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  };
  std::vector<Point> s, e;
  for (int64_t i = 0; i < 4; ++i) s.push_back(point(start, i)), e.push_back(point(end, i));
  Values sums(9);
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3, k = (i + 2) % 3;
    const Value weight = det(s[3], s[j], s[k]) / det(e[3], e[j], e[k]);
    const Values column = {s[i].x * weight, s[i].y * weight, weight};
    const Values row = {e[j].y - e[k].y, e[k].x - e[j].x, e[j].x * e[k].y - e[k].x * e[j].y};
    for (size_t r = 0; r < 3; ++r)
      for (size_t c = 0; c < 3; ++c) {
        const Value term = column[r] * row[c];
        Value& sum = sums[r * 3 + c];
        sum = sum.defined() ? sum + term : term;
      }
  }
  Values entries;
  for (size_t i = 0; i < 8; ++i) entries.push_back(squeeze(sums[i] / sums[8], 2));
  return concatenate(entries, 1);
}

Value perspective_transform(Value images, Value start_points, Value end_points,
                            const TransformOptions& options) {
  constexpr std::string_view who = "perspective_transform";
  check(who, options);
  require(options.fill_mode == "constant", who, ": fill_mode can only be 'constant', got '",
          options.fill_mode, "'");
  require(compatible(start_points.shape(), end_points.shape()), who,
          ": start_points and end_points must have the same shape. Received start_points.shape=",
          start_points.shape(), ", end_points.shape=", end_points.shape());
  return affine_transform(images, compute_homography_matrix(start_points, end_points), options);
}

namespace {

// exp(-½ (x / sigma)²) for x = -reach … reach in steps of 1, divided by their sum. What is farther
// than `limit`, if given, counts as 0.
Value gaussian(Value sigma, int64_t size, Value limit = {}) {
  const double reach = static_cast<double>(size - 1) / 2;
  const Value x = iota(sigma.block(), sigma.dtype(), {size}, 0) - reach;
  Value weights = exp(square(x / sigma) * -0.5);
  if (limit.defined()) weights = where(abs(x) <= limit, weights, scalar_like(weights, 0));
  return weights / sum(weights);
}

// A large sigma needs a large kernel.
void check_sigma(double sigma) {
  constexpr double max_sigma = 1 << 11;
  require(sigma >= 0 && sigma <= max_sigma, "elastic_transform: expected a sigma of at most ",
          max_sigma, ", got ", sigma);
}

}  // namespace

Value gaussian_blur(Value images, const Dims& kernel_size, Value sigma,
                    const std::string& data_format) {
  constexpr std::string_view who = "gaussian_blur";
  constexpr int64_t max_size = 1 << 14;
  require(is_float(images.dtype()), who, ": expected floats, got ", images.type());
  require(kernel_size.size() == 2 && kernel_size[0] > 0 && kernel_size[1] > 0 &&
              kernel_size[0] <= max_size && kernel_size[1] <= max_size,
          who, ": expected two sizes of the kernel from 1 to ", max_size);
  require(compatible(sigma.shape(), {2}), who, ": expected two sigmas, got shape ", sigma.shape());
  sigma = cast(sigma, images.dtype());
  const auto kernel = [&](int64_t i) {
    return gaussian(reshape(slice_axis(sigma, 0, i, i + 1), {}),
                    kernel_size[static_cast<size_t>(i)]);
  };
  // TensorFlow has the second kernel along the height, also where their sizes differ.
  const Value both = expand_dims(kernel(1), 1) * expand_dims(kernel(0), 0);
  const Value one = reshape(both, {kernel_size[0], kernel_size[1], 1, 1});
  return on_batch(who, images, data_format, [&](Value x) {
    if (x.shape()[3] == unknown) return fill_like(x, 0, x.dtype());
    const Value filter = broadcast_to(one, {kernel_size[0], kernel_size[1], x.shape()[3], 1});
    return depthwise_conv(x, filter, {.padding = "same"});
  });
}

Value gaussian_blur(Value images, const Dims& kernel_size, const std::vector<double>& sigma,
                    const std::string& data_format) {
  require(sigma.size() == 2, "gaussian_blur: expected two sigmas, got ", sigma.size());
  const DType dtype = is_float(images.dtype()) ? images.dtype() : DType::f32;
  const Value both = constant(images.block(), Tensor::of<double>(dtype, {2}, sigma));
  return gaussian_blur(images, kernel_size, both, data_format);
}

Value move_elastically(Value images, Value noise, Value alpha, Value sigma, double max_sigma,
                       const TransformOptions& options) {
  check_sigma(max_sigma);
  // Keras's kernel has 6 ⌊sigma⌋ + 1 weights, an odd number; farther ones are 0.
  const int64_t size = 6 * static_cast<int64_t>(max_sigma) | 1;
  const Value kernel = gaussian(sigma, size, floor(sigma) * 3.0);
  Value moved = expand_dims(noise * sigma, -1);
  moved = conv(moved, reshape(kernel, {size, 1, 1, 1}), {.padding = "same"});
  moved = conv(moved, reshape(kernel, {1, size, 1, 1}), {.padding = "same"});
  moved = squeeze(moved, 3) * alpha;
  const Sampling how = {.nearest = options.interpolation == "nearest",
                        .border = options.fill_mode,
                        .fill_value = options.fill_value};
  return sample(images, counts(images, 1) + moved, counts(images, 2) + moved, how);
}

Value elastic_transform(Value images, Value key, double alpha, double sigma,
                        const TransformOptions& options) {
  constexpr std::string_view who = "elastic_transform";
  check(who, options);
  require(sigma > 0, who, ": expected a positive sigma, got ", sigma);
  check_sigma(sigma);
  return on_batch(who, images, options.data_format, [&](Value x) {
    if (!x.shape().known()) return fill_like(x, 0, x.dtype());
    const Shape& shape = x.shape();
    const Value noise = random_normal(key, DType::f32, {shape[0], shape[1], shape[2]});
    return move_elastically(x, noise, scalar_like(noise, alpha), scalar_like(noise, sigma), sigma,
                            options);
  });
}

}  // namespace keratin::ops
