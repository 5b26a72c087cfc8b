#include "keratin/ops/image.h"

#include <cmath>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/random.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::evaluate;
using testing::expect_close;
using testing::expect_user_error;
using testing::ints;

using enum DType;

constexpr double tolerance = 2e-5;

Tensor pixels() {
  return Tensor::of<double>(f32, {1, 3, 4, 1}, {0, 1, 4, 9, 2, 7, 5, 3, 8, 6, 10, 12});
}

// What an operation makes of the pixels above, on every backend, in any layout.
void expect_pixels(const std::function<Value(Value, const std::string&)>& build, const Shape& shape,
                   const std::vector<double>& expected) {
  const Tensor x = pixels(), y = Tensor::of<double>(f32, shape, expected);
  const Dims last = shape.dims();
  testing::expect_values(
      [&](const Values& in) {
        const Value one = squeeze(in[0], 0), turned = transpose(in[0], {0, 3, 1, 2});
        return Values{build(in[0], "channels_last"), expand_dims(build(one, "channels_last"), 0),
                      reshape(build(turned, "channels_first"), last),
                      reshape(build(squeeze(turned, 0), "channels_first"), last)};
      },
      {x}, {y, y, y, y}, tolerance);
}

TEST(ResizeImages, GivesValuesOfKeras) {
  struct Case {
    Dims size;
    ResizeOptions options;
    std::vector<double> expected;
  };
  const Case cases[] = {
      {{2, 4}, {.crop_to_aspect_ratio = true}, {0, 1, 4, 9, 2, 7, 5, 3}},
      {{4, 3},
       {.pad_to_aspect_ratio = true, .fill_value = -2},
       {-1.729167, -1.4375, -0.7291665, 1.166667, 3.8125, 6.354167, 5.854167, 7.25, 8.541667,
        -0.7916665, -0.75, -0.291667}},
      {{2, 3}, {.interpolation = "area"}, {1.25, 3.666667, 6.333333, 6.083333, 7.333333, 8.833332}},
      {{2, 2}, {.antialias = true}, {2.339286, 5.232143, 6.357144, 8.089287}},
      {{2, 6},
       {.interpolation = "bicubic", .antialias = true},
       {0.2827159, 1.661127, 3.38864, 3.92046, 5.473988, 6.696567, 5.940611, 6.167785, 6.826902,
        8.074493, 8.559626, 8.630967}},
      {{2, 3},
       {.interpolation = "lanczos3", .antialias = true},
       {0.9132658, 3.604769, 5.755273, 6.087288, 7.598042, 8.567797}},
      {{2, 2},
       {.interpolation = "lanczos5", .antialias = true},
       {1.62481, 5.165611, 6.602908, 8.335943}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(text(c.options.interpolation, ' ', c.size[0], 'x', c.size[1]));
    expect_pixels(
        [&](Value x, const std::string& data_format) {
          ResizeOptions options = c.options;
          options.data_format = data_format;
          return resize(x, c.size, options);
        },
        {1, c.size[0], c.size[1], 1}, c.expected);
  }
}

// tf.image.resize(x, (2, 6), method)
TEST(ResizeImages, HasFiltersOfKeras2) {
  const auto resized = [](const char* method, const std::vector<double>& expected) {
    testing::expect_values(
        {pixels()},
        [&](const Values& in) {
          return resize(in[0], {{2, 6}, method});
        },
        {1, 2, 6, 1}, expected, tolerance);
  };
  resized("gaussian", {0.6727436, 1.575766, 2.832764, 4.104118, 5.827646, 7.183815, 6.378723,
                       6.327646, 6.746927, 8.2316, 9.11741, 9.519481});
  resized("mitchellcubic", {0.3692798, 1.314622, 2.70864, 3.866908, 5.92302, 7.480902, 6.616334,
                            6.388756, 6.734745, 8.405688, 9.413773, 9.798733});
}

TEST(ResizeImages, RoundsIntegersAndKeepsTheDtype) {
  const auto resized = [](DType dtype, const ResizeOptions& options) {
    return evaluate(
        [&](const Values& in) {
          return Values{resize(in[0], {2, 3}, options)};
        },
        {pixels().cast(dtype)})[0];
  };
  EXPECT_EQ(resized(u8, {.interpolation = "bicubic"}), ints({1, 2, 3, 1}, {0, 3, 7, 7, 8, 10}, u8));
  for (const DType dtype : {f16, bf16, f64, i32, i64})
    EXPECT_EQ(resized(dtype, {.antialias = true}).dtype(), dtype);
}

TEST(ResizeImages, HasGradients) {
  for (const char* method : {"area", "bilinear", "bicubic"})
    for (const Dims& size : {Dims{2, 2}, {5, 3}})
      check_op({.name = text(method, ' ', size[0], 'x', size[1]),
                .inputs = {{f32, {2, 3, 4, 2}}},
                .build = [&](const Values& in) {
                  const ResizeOptions cropped = {method, true, true};
                  const ResizeOptions padded = {method, true, false, true};
                  return Values{resize(in[0], size, cropped), resize(in[0], size, padded)};
                }});
}

const std::vector<double> turned = {0.8, 0.3, -1.7, -0.2, 1.1, 0.6, 0, 0};

TEST(AffineTransform, GivesValuesOfKeras) {
  struct Case {
    std::string fill_mode, interpolation;
    std::vector<double> expected;
  };
  const Case cases[] = {
      {"constant",
       "bilinear",
       {-1, -0.8200001, 0.26, 0.7, -1, 1.4, 4.38, 6.9, -1, 1.520001, 3.799999, 5.559999}},
      {"constant", "nearest", {-1, -1, 0, 1, -1, -1, 2, 7, -1, -1, 6, 6}},
      {"nearest", "bilinear", {1.2, 0.8000001, 0.4, 0.7, 6.2, 5, 4.38, 6.9, 8, 8, 7, 7.2}},
      {"nearest", "nearest", {2, 0, 0, 1, 8, 8, 2, 7, 8, 8, 6, 6}},
      {"wrap", "bilinear", {4.84, 6.599999, 7.8, 0.7, 8.98, 7.5, 4.38, 6.9, 8.5, 9, 0.5, 1.9}},
      {"wrap", "nearest", {5, 9, 9, 1, 12, 12, 2, 7, 9, 9, 1, 1}},
      {"reflect", "bilinear", {3.58, 0.8000001, 0.4, 0.7, 6.24, 5, 4.38, 6.9, 7.8, 8, 7, 7.2}},
      {"reflect", "nearest", {7, 0, 0, 1, 8, 8, 2, 7, 8, 8, 6, 6}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(text(c.fill_mode, ' ', c.interpolation));
    expect_pixels(
        [&](Value x, const std::string& data_format) {
          const Value transform = constant(x.block(), Tensor::of<double>(f32, {8}, turned));
          return affine_transform(x, transform, {c.interpolation, c.fill_mode, -1, data_format});
        },
        {1, 3, 4, 1}, c.expected);
  }
}

TEST(AffineTransform, FillsWherePerspectiveIsInfinite) {
  expect_pixels(
      [&](Value x, const std::string& data_format) {
        std::vector<double> entries = turned;
        entries[6] = 0.1, entries[7] = -0.5;
        const Value transform = constant(x.block(), Tensor::of<double>(f32, {1, 8}, entries));
        return affine_transform(x, transform, {"bilinear", "nearest", -1, data_format});
      },
      {1, 3, 4, 1}, {1.2, 0.7272727, 0.3333333, 0.5384616, 8, 8, 6.857143, 6.6875, -1, 8, 11, 12});
}

TEST(AffineTransform, HasGradients) {
  const Tensor transforms = Tensor::of<double>(
      f64, {2, 8},
      {0.8, 0.3, -1.73, -0.2, 1.13, 0.61, 0, 0, 1.2, 0.33, 0.41, 0.1, 0.93, -0.57, 0.01, 0.02});
  for (const char* fill_mode : {"constant", "nearest", "wrap", "mirror", "reflect"})
    for (const char* interpolation : {"bilinear", "nearest"})
      check_op({.name = text(fill_mode, ' ', interpolation),
                .inputs = {{f32, {2, 3, 4, 2}}},
                .build = [&](const Values& in) {
                  const Value t = constant(in[0].block(), transforms.cast(f32));
                  return Values{
                      affine_transform(in[0], t, {interpolation, fill_mode, 0.5, "channels_last"})};
                }});
  for (const DType dtype : {u8, i64, f16, bf16, f64})
    check_op({.name = text("of ", dtype),
              .inputs = {{dtype, {2, 3, 4, 2}}},
              .build =
                  [&](const Values& in) {
                    const Value t = constant(in[0].block(), transforms.cast(f32));
                    return Values{affine_transform(in[0], t, {"nearest"})};
                  },
              .gradient = false});
  check_op({.name = "no images",
            .inputs = {{f32, {0, 3, 4, 2}}, {f32, {1, 8}}},
            .build = [](const Values& in) { return Values{affine_transform(in[0], in[1])}; },
            .gradient = false});
}

TEST(PerspectiveTransform, GivesValuesOfKeras) {
  const Tensor start = Tensor::of<double>(f32, {4, 2}, {0, 0, 3, 0, 0, 2, 3, 2});
  const Tensor end = Tensor::of<double>(f32, {4, 2}, {0.5, 0.2, 2.5, -0.4, -0.3, 2.2, 3.4, 1.7});
  const auto matrix =
      evaluate([](const Values& in) { return Values{compute_homography_matrix(in[0], in[1])}; },
               {start, end})[0];
  expect_close(matrix,
               Tensor::of<double>(f32, {1, 8},
                                  {2.512822, 1.005129, -1.457437, 0.7421838, 2.473946, -0.8658812,
                                   0.281421, 0.5734085}),
               tolerance, "homography");
  expect_pixels(
      [&](Value x, const std::string& data_format) {
        const TransformOptions options = {.fill_value = -1, .data_format = data_format};
        return perspective_transform(x, constant(x.block(), start), constant(x.block(), end),
                                     options);
      },
      {1, 3, 4, 1},
      {-1, 0.6475705, 5.027116, 2.916524, 1.231755, 6.688832, 7.208472, 8.250942, 7.07122, 7.042344,
       9.514092, 10.056});
}

TEST(MapCoordinates, GivesValuesOfKeras) {
  const Tensor x = pixels().reshape({3, 4});
  const Tensor at =
      Tensor::of<double>(f32, {2, 5}, {-1.7, 0.5, 2.6, 1.5, 7.2, 3.3, -2.5, 1.25, 0.5, -6.4});
  struct Case {
    std::string fill_mode;
    int64_t order;
    std::vector<double> expected;
  };
  const Case cases[] = {
      {"constant", 0, {-1, -1, -1, 6, -1}}, {"constant", 1, {-1, -1, 2.200001, 5.75, -1}},
      {"nearest", 0, {9, 2, 6, 6, 8}},      {"nearest", 1, {9, 1, 7, 5.75, 8}},
      {"wrap", 0, {3, 7, 1, 6, 5}},         {"wrap", 1, {5.13, 4.25, 3.85, 5.75, 6.32}},
      {"mirror", 0, {12, 3, 7, 6, 2}},      {"mirror", 1, {9.06, 5.25, 6.7, 5.75, 3.280001}},
      {"reflect", 0, {3, 5, 6, 6, 5}},      {"reflect", 1, {4.8, 4.25, 7, 5.75, 6.32}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(text(c.fill_mode, ' ', c.order));
    testing::expect_values(
        [&](const Values& in) {
          return Values{map_coordinates(in[0], in[1], c.order, c.fill_mode, -1)};
        },
        {x, at}, {Tensor::of<double>(f32, {5}, c.expected)}, tolerance);
  }
  check_op({.name = "three axes",
            .inputs = {{f32, {2, 3, 4}}, {f32, {3, 2, 5}}},
            .build = [](const Values& in) {
              return Values{map_coordinates(in[0], in[1], 1, "reflect")};
            }});
}

TEST(GaussianBlur, GivesValuesOfKeras) {
  expect_pixels(
      [](Value x, const std::string& data_format) {
        return gaussian_blur(x, {3, 3}, {0.8, 1.3}, data_format);
      },
      {1, 3, 4, 1},
      {0.9084941, 2.186979, 3.29508, 3.098327, 2.841101, 4.806113, 6.196073, 5.388224, 3.067467,
       4.581067, 5.322595, 4.304218});
  expect_pixels(
      [](Value x, const std::string& data_format) {
        return gaussian_blur(x, {3, 5}, {0.8, 1.3}, data_format);
      },
      {1, 3, 4, 1},
      {0.8326513, 1.601415, 2.369052, 3.115438, 2.455765, 4.669898, 4.590497, 3.342584, 3.457928,
       4.016886, 4.228365, 3.629375});
}

TEST(Colors, GiveValuesOfKeras) {
  const Tensor rgb = Tensor::of<double>(f32, {1, 2, 3, 3},
                                        {0.2, 0.5, 0.1, 0.9, 0.3, 0.3, 0.4, 0.4, 0.4,  //
                                         0, 0, 0, 0.1, 0.2, 0.7, 0.8, 0.1, 0.7});
  const Tensor hsv = Tensor::of<double>(f32, {1, 2, 3, 3},
                                        {0.2916667, 0.8, 0.5, 0, 0.6666666, 0.9, 0, 0, 0.4, 0, 0, 0,
                                         0.6388889, 0.8571428, 0.7, 0.8571429, 0.875, 0.8});
  testing::expect_values(
      [](const Values& in) {
        return Values{rgb_to_hsv(in[0]), hsv_to_rgb(in[1]), rgb_to_grayscale(in[0])};
      },
      {rgb, hsv},
      {hsv, rgb,
       Tensor::of<double>(f32, {1, 2, 3, 1}, {0.36468, 0.47931, 0.39996, 0, 0.22709, 0.37762})},
      tolerance);
  check_op({.name = "to and from",
            .inputs = {{f32, {2, 3, 2, 2}}},
            .build =
                [](const Values& in) {
                  const Value hsv = rgb_to_hsv(in[0], "channels_first");
                  return Values{hsv, hsv_to_rgb(hsv, "channels_first"),
                                rgb_to_grayscale(in[0], "channels_first")};
                },
            .low = 0.1,
            .high = 0.9});
}

TEST(ElasticTransform, MovesPixelsOfBothAxesAlike) {
  const auto moved = [](const Tensor& x, double alpha, const TransformOptions& options) {
    const Tensor key = ints({2}, {7, 0}, i64);
    return evaluate(
        [&](const Values& in) {
          return Values{elastic_transform(in[0], in[1], alpha, 2, options)};
        },
        {x, key})[0];
  };
  Tensor rows(f32, {1, 9, 9, 1}), columns(f32, {1, 9, 9, 1});
  for (int64_t i = 0; i < 81; ++i) {
    const int64_t row = i / 9;
    rows.set(i, static_cast<double>(row));
    columns.set(i, static_cast<double>(i % 9));
  }
  EXPECT_EQ(moved(rows, 0, {}), rows);
  const Tensor down = moved(rows, 0.5, {}), right = moved(columns, 0.5, {});
  bool any = false;
  for (const int64_t i : {30, 40, 50}) {
    EXPECT_NEAR(down.at(i) - rows.at(i), right.at(i) - columns.at(i), 1e-5);
    any = any || std::fabs(down.at(i) - rows.at(i)) > 0.01;
  }
  EXPECT_TRUE(any);
}

TEST(Images, OfUnknownSizesHaveShapes) {
  Module m;
  const Value x = m.input({f32, {unknown, unknown, unknown, 3}}), t = m.input({f32, {unknown, 8}});
  EXPECT_EQ(text(affine_transform(x, t).shape()), "[?,?,?,3]");
  EXPECT_EQ(text(resize(x, {3, 4}, {.pad_to_aspect_ratio = true}).shape()), "[?,3,4,3]");
  EXPECT_EQ(text(rgb_to_grayscale(x).shape()), "[?,?,?,1]");
  EXPECT_EQ(text(gaussian_blur(x).shape()), "[?,?,?,3]");
}

TEST(Images, RefuseWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {2, 3, 4, 3}}), flat = m.input({f32, {3, 4}});
  const Value t = m.input({f32, {3, 8}}), i = m.input({i32, {2, 3, 4, 3}});
  const Value tall = m.input({f32, {2, 5, 4, 3}});
  const Value points = m.input({f32, {4, 2}}), many = m.input({f32, {2, 4, 2}});
  expect_user_error([&] { resize(flat, {2, 2}, {}); }, {"Invalid images rank", "[3,4]"});
  expect_user_error([&] { resize(x, {2, 2}, {.interpolation = "cubic"}); }, "interpolation=cubic");
  expect_user_error([&] { resize(x, {2, 2}, {.fill_mode = "wrap"}); }, "fill_mode=wrap");
  expect_user_error(
      [&] {
        resize(x, {2, 2}, {"area", false, true, true});
      },
      "Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio`");
  expect_user_error([&] { resize(x, {2}, {}); }, {"`size`", "[2]"});
  expect_user_error([&] { resize(x, {int64_t{1} << 40, 2}, {}); }, {"resize", "less than"});
  expect_user_error([&] { resize(x, {2, 2}, {.data_format = "NHWC"}); }, "NHWC");
  expect_user_error([&] { affine_transform(x, t); }, {"2 transforms or one, got 3"});
  expect_user_error([&] { affine_transform(x, x); }, "Invalid transform rank");
  expect_user_error([&] { affine_transform(x, t, {"bicubic"}); }, "interpolation=bicubic");
  expect_user_error([&] { affine_transform(x, t, {"nearest", "edge"}); }, "fill_mode=edge");
  expect_user_error([&] { perspective_transform(x, points, many); }, "must have the same shape");
  expect_user_error([&] { perspective_transform(x, flat, flat); }, "Invalid start_points shape");
  expect_user_error([&] { map_coordinates(x, flat, 1); }, {"First dim of `coordinates`"});
  expect_user_error([&] { map_coordinates(flat, flat, 1); }, {"First dim of `coordinates`"});
  expect_user_error([&] { gaussian_blur(i); }, {"gaussian_blur", "floats"});
  expect_user_error([&] { gaussian_blur(x, {3, 0}); }, "sizes of the kernel");
  expect_user_error([&] { rgb_to_hsv(i); }, "Invalid images dtype");
  expect_user_error([&] { hsv_to_rgb(tall, "channels_first"); }, "3 channels");
  expect_user_error([&] { rgb_to_grayscale(tall, "channels_first"); }, "Invalid channel size");
}

}  // namespace
}  // namespace keratin::ops
