#include "keratin/layers/image_geometry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "keratin/graph/input.h"
#include "keratin/layers/registry.h"
#include "keratin/model/program.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"

// Golden files have what is not random. Here are the numbers that the layers draw, what each image
// becomes for those, and errors.
namespace keratin {
namespace {

using testing::expect_close;
using testing::expect_user_error;

using enum DType;

constexpr int64_t side = 9, images_drawn = 400;

Tensor trained_image(Layer& layer, const Tensor& x) {
  return run_layer(layer, {{MaskedTensor{x}}, {}}, {.training = true}).outputs.leaf();
}

// Images whose channels are the numbers of the column and the row of each pixel.
Tensor positions_of_pixels(int64_t count = images_drawn) {
  Tensor x(f32, {count, side, side, 2});
  for (int64_t i = 0; i < x.count(); ++i)
    x.set(i, static_cast<double>(i % 2 == 0 ? i / 2 % side : i / 2 / side % side));
  return x;
}

struct Position {
  double x = 0, y = 0;
};
// Where image i has read the pixel of this row and column.
Position source(const Tensor& images, int64_t i, int64_t row, int64_t column) {
  const int64_t at = ((i * side + row) * side + column) * 2;
  return {images.at(at), images.at(at + 1)};
}
Tensor image_of(const Tensor& images, int64_t i) {
  const Shape& s = images.shape();
  const int64_t size = s.count(1, s.rank());
  Tensor one(images.dtype(), {1, s[1], s[2], s[3]});
  for (int64_t j = 0; j < size; ++j) one.set(j, images.at(i * size + j));
  return one;
}

// Checks that numbers are evenly spread over a range.
void expect_even(std::vector<double> drawn, double low, double high) {
  const auto n = static_cast<double>(drawn.size());
  const double width = high - low, slack = width * 1e-3 + 1e-5;
  double mean = 0, variance = 0;
  for (const double v : drawn) mean += v / n;
  for (const double v : drawn) variance += (v - mean) * (v - mean) / n;
  EXPECT_NEAR(mean, (low + high) / 2, 4 * width / std::sqrt(12 * n));
  EXPECT_NEAR(variance, width * width / 12, width * width / 12 * 0.2);
  std::sort(drawn.begin(), drawn.end());
  EXPECT_GE(drawn.front(), low - slack);
  EXPECT_LE(drawn.back(), high + slack);
  EXPECT_LE(drawn.front(), low + 0.05 * width);
  EXPECT_GE(drawn.back(), high - 0.05 * width);
}

// Checks some images against those of a layer with that parameter alone.
void expect_images(const Tensor& drawn, const std::function<LayerPtr(int64_t image)>& fixed) {
  for (int64_t i = 0; i < images_drawn; i += images_drawn / 8)
    expect_close(image_of(drawn, i), trained_image(*fixed(i), positions_of_pixels(1)), 2e-4,
                 detail::text("image ", i));
}

TEST(RandomFlip, FlipsHalfOfTheImagesInBothDirections) {
  struct Case {
    std::string mode;
    bool rows, columns;
  };
  for (const Case& c : {Case{"horizontal", false, true}, Case{"vertical", true, false},
                        Case{"horizontal_and_vertical", true, true}}) {
    const Tensor y = trained_image(*RandomFlip({.mode = c.mode, .seed = 3}), positions_of_pixels());
    int64_t flipped = 0;
    for (int64_t i = 0; i < images_drawn; ++i) {
      const Position first = source(y, i, 0, 0);
      const bool turned = first.x != 0 || first.y != 0;
      flipped += turned;
      for (const int64_t at : {0, 3, 8}) {
        const Position p = source(y, i, at, at);
        EXPECT_EQ(p.x, static_cast<double>(turned && c.columns ? 8 - at : at));
        EXPECT_EQ(p.y, static_cast<double>(turned && c.rows ? 8 - at : at));
      }
    }
    EXPECT_NEAR(static_cast<double>(flipped) / images_drawn, 0.5, 0.08) << c.mode;
  }
}

TEST(RandomTranslation, DrawsBothDistancesOfEachImage) {
  const RandomTranslation layer({.height_factor = {-0.1, 0.3}, .width_factor = 0.2, .seed = 4});
  const Tensor y = trained_image(*layer, positions_of_pixels());
  std::vector<double> down, right;
  for (int64_t i = 0; i < images_drawn; ++i) {
    const Position p = source(y, i, 4, 4);
    down.push_back((4 - p.y) / side);
    right.push_back((4 - p.x) / side);
  }
  expect_even(down, -0.1, 0.3);
  expect_even(right, -0.2, 0.2);
  expect_images(y, [&](int64_t i) -> LayerPtr {
    const double h = down[static_cast<size_t>(i)], w = right[static_cast<size_t>(i)];
    return RandomTranslation({.height_factor = {h, h}, .width_factor = {w, w}});
  });
}

TEST(RandomRotation, DrawsAnAngleForEachImage) {
  const Tensor y =
      trained_image(*RandomRotation({.factor = {-0.1, 0.2}, .seed = 5}), positions_of_pixels());
  std::vector<double> turns;
  for (int64_t i = 0; i < images_drawn; ++i) {
    const Position p = source(y, i, 4, 6);
    turns.push_back(std::atan2(p.y - 4, p.x - 4) / (2 * std::numbers::pi));
  }
  expect_even(turns, -0.1, 0.2);
  expect_images(y, [&](int64_t i) -> LayerPtr {
    const double turn = turns[static_cast<size_t>(i)];
    return RandomRotation({.factor = {turn, turn}});
  });
}

TEST(RandomZoom, DrawsBothFactorsOrOne) {
  const auto factors = [](const Tensor& y) {
    std::vector<std::vector<double>> all(2);
    for (int64_t i = 0; i < images_drawn; ++i) {
      const Position p = source(y, i, 5, 5), q = source(y, i, 4, 4);
      all[0].push_back(p.y - q.y - 1);
      all[1].push_back(p.x - q.x - 1);
    }
    return all;
  };
  const Tensor y = trained_image(
      *RandomZoom({.height_factor = {-0.3, 0.1}, .width_factor = Numbers(0.2), .seed = 6}),
      positions_of_pixels());
  const auto drawn = factors(y);
  expect_even(drawn[0], -0.3, 0.1);
  expect_even(drawn[1], -0.2, 0.2);
  expect_images(y, [&](int64_t i) -> LayerPtr {
    const double h = drawn[0][static_cast<size_t>(i)], w = drawn[1][static_cast<size_t>(i)];
    return RandomZoom({.height_factor = {h, h}, .width_factor = Numbers{w, w}});
  });
  const auto same =
      factors(trained_image(*RandomZoom({.height_factor = 0.3, .seed = 7}), positions_of_pixels()));
  expect_even(same[0], -0.3, 0.3);
  for (size_t i = 0; i < same[0].size(); ++i) EXPECT_NEAR(same[0][i], same[1][i], 1e-5);
}

TEST(RandomShear, DrawsFactorsAndOneSign) {
  const Tensor y =
      trained_image(*RandomShear({.x_factor = {0.1, 0.3}, .y_factor = {0.2, 0.4}, .seed = 8}),
                    positions_of_pixels());
  std::vector<double> right, down;
  int64_t negative = 0;
  for (int64_t i = 0; i < images_drawn; ++i) {
    const Position p = source(y, i, 4, 4), below = source(y, i, 5, 4), beside = source(y, i, 4, 5);
    const double x = below.x - p.x, z = beside.y - p.y;
    EXPECT_EQ(x < 0, z < 0) << "the sign is that of both";
    negative += x < 0;
    right.push_back(std::fabs(x));
    down.push_back(std::fabs(z));
    EXPECT_NEAR(p.x, 4 + 4 * x, 1e-4);
    EXPECT_NEAR(p.y, 4 + 4 * z, 1e-4);
  }
  expect_even(right, 0.1, 0.3);
  expect_even(down, 0.2, 0.4);
  EXPECT_NEAR(static_cast<double>(negative) / images_drawn, 0.5, 0.08);
}

TEST(RandomPerspective, MovesThreeCornersOfSomeImages) {
  const Tensor x = positions_of_pixels();
  const Tensor y =
      trained_image(*RandomPerspective({.factor = {0.2, 0.6}, .scale = 0.2, .seed = 9}), x);
  int64_t moved = 0;
  for (int64_t i = 0; i < images_drawn; ++i) {
    const Position corner = source(y, i, 0, 0), centre = source(y, i, 4, 4);
    // The first corner stays: the others move by shares of their coordinates.
    EXPECT_NEAR(corner.x, 0, 1e-5);
    EXPECT_NEAR(corner.y, 0, 1e-5);
    EXPECT_NEAR(centre.x, 4, 1.2);
    EXPECT_NEAR(centre.y, 4, 1.2);
    moved += std::fabs(centre.x - 4) > 1e-3 || std::fabs(centre.y - 4) > 1e-3;
  }
  EXPECT_NEAR(static_cast<double>(moved) / images_drawn, 0.4, 0.08);
}

TEST(RandomElasticTransform, RefusesAScaleThatNeedsAHugeKernel) {
  const RandomElasticTransform layer({.scale = {0, 1e9}});
  expect_user_error(
      [&] {
        trained_image(*layer, testing::noise({1, 8, 8, 1}));
      },
      "elastic_transform: expected a sigma of at most 2048, got 4e+08");
}

TEST(RandomElasticTransform, MovesPixelsOfSomeImages) {
  const Tensor x = positions_of_pixels();
  const Tensor y = trained_image(*RandomElasticTransform({.factor = {0.5, 0.5}, .seed = 10}), x);
  int64_t moved = 0;
  double mean = 0;
  for (int64_t i = 0; i < images_drawn; ++i) {
    const Position p = source(y, i, 4, 4);
    EXPECT_NEAR(p.x, p.y, 1e-4) << "Keras moves both coordinates alike";
    moved += std::fabs(p.x - 4) > 1e-5;
    mean += (p.x - 4) / images_drawn;
  }
  EXPECT_NEAR(static_cast<double>(moved) / images_drawn, 0.5, 0.08);
  EXPECT_NEAR(mean, 0, 0.05);
}

TEST(RandomCrop, DrawsAWindowForTheBatch) {
  const RandomCrop layer({.height = 7, .width = 5, .seed = 11});
  std::vector<int64_t> rows(3), columns(5);
  const Tensor x = positions_of_pixels(2);
  for (int i = 0; i < 300; ++i) {
    const Tensor y = trained_image(*layer, x);
    ASSERT_EQ(y.shape(), Shape({2, 7, 5, 2}));
    const auto left = static_cast<int64_t>(y.at(0)), top = static_cast<int64_t>(y.at(1));
    ++rows.at(static_cast<size_t>(top)), ++columns.at(static_cast<size_t>(left));
    EXPECT_EQ(y.at(y.count() - 2), static_cast<double>(left + 4)) << "the other image";
    EXPECT_EQ(y.at(y.count() - 1), static_cast<double>(top + 6));
  }
  for (const int64_t n : rows) EXPECT_NEAR(static_cast<double>(n) / 300, 1.0 / 3, 0.1);
  for (const int64_t n : columns) EXPECT_NEAR(static_cast<double>(n) / 300, 1.0 / 5, 0.1);
}

TEST(RandomCrop, LeavesImagesWholeInInference) {
  const RandomCrop layer({.height = 3, .width = 2});
  const Tensor x = positions_of_pixels(2);
  EXPECT_EQ(run_layer(*layer, {{MaskedTensor{x}}, {}}).outputs.leaf(), x);
  // As in Keras, models declare the shape of a crop.
  EXPECT_EQ(layer(Input({side, side, 2})).leaf().shape(), Shape({unknown, 3, 2, 2}));
  EXPECT_EQ(layer(Input({unknown, unknown, 2})).leaf().shape(), Shape({unknown, 3, 2, 2}));
}

TEST(RandomImageLayers, FollowTheSeed) {
  const std::function<LayerPtr(int64_t)> makers[] = {
      [](int64_t seed) { return RandomCrop({.height = 3, .width = 3, .seed = seed}); },
      [](int64_t seed) { return RandomFlip({.seed = seed}); },
      [](int64_t seed) { return RandomTranslation({.height_factor = 0.5, .seed = seed}); },
      [](int64_t seed) { return RandomRotation({.factor = 0.5, .seed = seed}); },
      [](int64_t seed) { return RandomZoom({.height_factor = 0.5, .seed = seed}); },
      [](int64_t seed) { return RandomShear({.x_factor = 0.5, .seed = seed}); },
      [](int64_t seed) { return RandomPerspective({.seed = seed}); },
      [](int64_t seed) { return RandomElasticTransform({.seed = seed}); },
  };
  const Tensor x = positions_of_pixels(16);
  for (const auto& make : makers) {
    const LayerPtr a = make(3), b = make(3), other = make(5);
    SCOPED_TRACE(a->class_name());
    const Tensor first = trained_image(*a, x), second = trained_image(*a, x);
    EXPECT_FALSE(first == second) << "two calls draw other numbers";
    EXPECT_FALSE(trained_image(*other, x) == first) << "another seed";
    EXPECT_EQ(trained_image(*b, x), first) << "the same seed";
    EXPECT_EQ(trained_image(*b, x), second);
    EXPECT_EQ(run_layer(*a, {{MaskedTensor{x}}, {}}).outputs.leaf(), x);
    EXPECT_TRUE(a->weights().empty());
    EXPECT_EQ(a->variables().size(), 1u);
  }
}

TEST(RandomImageLayers, ChangeMasksAsImagesByTheNearestPixel) {
  const auto x = positions_of_pixels(6);
  const std::vector<LayerPtr> layers = {
      RandomCrop({.height = 4, .width = 5}),
      RandomFlip(),
      RandomTranslation({.height_factor = 0.3, .interpolation = "nearest"}),
      RandomRotation({.factor = 0.5, .interpolation = "nearest"}),
      RandomZoom({.height_factor = 0.5, .interpolation = "nearest"}),
      RandomShear({.x_factor = 0.5, .interpolation = "nearest"}),
      RandomPerspective({.interpolation = "nearest"}),
      RandomElasticTransform({.interpolation = "nearest"})};
  for (const LayerPtr& layer : layers) {
    SCOPED_TRACE(layer->class_name());
    const Tree<MaskedTensor>::Dict data = {{"images", MaskedTensor{x}},
                                           {"labels", MaskedTensor{Tensor::zeros(i32, {6})}},
                                           {"segmentation_masks", MaskedTensor{x.cast(u8)}}};
    const auto out =
        run_layer(*layer, {{Tree<MaskedTensor>(data)}, {}}, {.training = true}).outputs;
    EXPECT_EQ(out["images"].leaf(), out["segmentation_masks"].leaf().cast(f32));
    EXPECT_EQ(out["labels"].leaf(), Tensor::zeros(i32, {6}));
  }
}

TEST(ImageLayers, HaveShapesForUnknownSizes) {
  const auto x = Input({unknown, unknown, 3});
  const Keywords training = {{"training", true}};
  const Shape open = {unknown, unknown, unknown, 3}, fixed = {unknown, 4, 5, 3};
  EXPECT_EQ(Resizing({.height = 4, .width = 5})(x).leaf().shape(), fixed);
  EXPECT_EQ(CenterCrop({.height = 4, .width = 5})(x).leaf().shape(), fixed);
  EXPECT_EQ(RandomCrop({.height = 4, .width = 5})(x, training).leaf().shape(), fixed);
  EXPECT_EQ(RandomFlip()(x, training).leaf().shape(), open);
  EXPECT_EQ(RandomTranslation()(x, training).leaf().shape(), open);
  EXPECT_EQ(RandomRotation({.factor = 0.1})(x, training).leaf().shape(), open);
  EXPECT_EQ(RandomZoom({.height_factor = 0.1})(x, training).leaf().shape(), open);
  EXPECT_EQ(RandomShear({.x_factor = 0.1})(x, training).leaf().shape(), open);
  EXPECT_EQ(RandomPerspective()(x, training).leaf().shape(), open);
  EXPECT_EQ(RandomElasticTransform()(x, training).leaf().shape(), open);
}

TEST(RandomShear, ReadsTheRangeThatKerasSaves) {
  const Json config = Json::parse(
      R"({"class_name": "RandomShear", "module": "keras.layers", "config":
          {"name": "shear", "x_factor": [-0.2, 0.2], "y_factor": [0.1, 0.3]}})");
  EXPECT_EQ(layer_from_json(config)->get_config().at("x_factor"), Json::parse("[-0.2, 0.2]"));
  expect_user_error(
      [] {
        RandomShear({.x_factor = {-0.2, 0.3}});
      },
      {"in the range [0, 1.0]", "input_number=-0.2"});
}

TEST(RandomHeight, OfKeras2ResizesByAKnownFactorAlone) {
  const Json config = Json::parse(
      R"({"class_name": "RandomHeight", "config":
          {"name": "h", "factor": [-0.25, -0.25], "interpolation": "nearest", "seed": null}})");
  const LayerPtr layer = layer_from_json(config);
  const Tensor x = positions_of_pixels(1);
  EXPECT_EQ(run_layer(*layer, {{MaskedTensor{x}}, {}}).outputs.leaf(), x);
  const Tensor y = trained_image(*layer, x);
  ASSERT_EQ(y.shape(), Shape({1, 6, side, 2}));
  for (int64_t row = 0; row < 6; ++row) {
    const std::vector<double> rows = {0, 2, 3, 5, 6, 8};  // ⌊(row + ½) · 1.5⌋
    EXPECT_EQ(source(y, 0, row, 3).y, rows[static_cast<size_t>(row)]);
  }
  const RandomWidth width({.factor = {0.4, 0.4}, .interpolation = "gaussian"});
  EXPECT_EQ(trained_image(*width, x).shape(), Shape({1, side, 12, 2}));
  EXPECT_EQ(trained_image(*width, image_of(x, 0).reshape({side, side, 2})).shape(),
            Shape({side, 12, 2}));
  expect_user_error([&] { trained_image(*RandomWidth({.factor = 0.2}), x); },
                    {"RandomWidth", "random in training", "factor=0.2"});
  expect_user_error([] { RandomHeight({.factor = {0.3, 0.2}}); }, "upper bound lesser than");
  expect_user_error([] { RandomHeight({.factor = 1.5}); }, "larger than -1");
}

TEST(ImageLayers, RefuseWrongArguments) {
  expect_user_error([] { Resizing({.height = 0, .width = 2}); }, {"Resizing", "positive"});
  expect_user_error([] { CenterCrop({.height = 2}); }, {"CenterCrop", "width=0"});
  expect_user_error([] { RandomCrop({.height = -1, .width = 2}); }, {"RandomCrop", "height=-1"});
  expect_user_error([] { Resizing({.height = 2, .width = 2, .data_format = "NHWC"}); }, "nhwc");
  expect_user_error([] { RandomTranslation({.height_factor = 1.5}); },
                    {"The `factor` argument should be a number (or a list of two numbers) in the "
                     "range [-1.0, 1.0]. Received: input_number=1.5"});
  expect_user_error(
      [] {
        RandomTranslation({.width_factor = {0.1, 0.2, 0.3}});
      },
      "width_factor=(0.1, 0.2, 0.3)");
  expect_user_error([] { RandomTranslation({.fill_mode = "mirror"}); },
                    "Unknown `fill_mode` mirror. Expected of one");
  expect_user_error([] { RandomTranslation({.interpolation = "cubic"}); },
                    "Unknown `interpolation` cubic. Expected of one ('nearest', 'bilinear').");
  expect_user_error([] { RandomRotation({.factor = 1.5}); },
                    "The `factor` argument should be a number (or a list of two numbers) in the "
                    "range [-1, 1]. Received: factor=1.5");
  expect_user_error([] { RandomZoom({.height_factor = -1.0}); }, "in the range (-1.0, 1.0]");
  expect_user_error([] { RandomShear({.y_factor = -0.5}); }, "in the range [0, 1.0]");
  expect_user_error([] { RandomPerspective({.scale = 2}); }, {"`scale`", "[0,1]", "scale=2"});
  expect_user_error([] { RandomElasticTransform({.scale = -0.5}); }, {"`scale`", "[0, 1]"});
  expect_user_error([] { RandomElasticTransform({.value_range = {1}}); }, "`value_range`");
  expect_user_error([] { MaxNumBoundingBoxes({.max_number = -2}); }, "max_number");
}

TEST(ImageLayers, RefuseWrongInputs) {
  const RandomFlip flip;
  expect_user_error(
      [&] {
        trained_image(*flip, Tensor::zeros(f32, {2, 3}));
      },
      "Expected image tensor to have rank 3 (single image) or 4 (batch of images)");
  const auto run = [](Layer& layer, const Tree<MaskedTensor>::Dict& data) {
    return run_layer(layer, {{Tree<MaskedTensor>(data)}, {}}).outputs;
  };
  const MaskedTensor x{Tensor::zeros(f32, {1, 3, 4, 1})};
  expect_user_error([&] { run(*flip, {{"image", x}}); }, {"'images'", "image"});
  const Tree<MaskedTensor> boxes =
      Tree<MaskedTensor>::Dict{{"boxes", MaskedTensor{Tensor::zeros(f32, {1, 2, 4})}},
                               {"labels", MaskedTensor{Tensor::zeros(i32, {1, 2})}}};
  const Tree<MaskedTensor>::Dict data = {{"images", x}, {"bounding_boxes", boxes}};
  expect_user_error([&] { run(*flip, data); },
                    "Pass a `bounding_box_format` argument to your RandomFlip layer, e.g. "
                    "`bounding_box_format='xyxy'`.");
  expect_user_error([&] { run(*MaxNumBoundingBoxes({.max_number = 1}), data); },
                    "you didn't specify a bounding box format");
  const CenterCrop unknown_format({.height = 2, .width = 2, .bounding_box_format = "xyx"});
  expect_user_error([&] { run(*unknown_format, data); }, {"Supported formats", "'xyx'"});
  const CenterCrop crop({.height = 2, .width = 2, .bounding_box_format = "xyxy"});
  expect_user_error(
      [&] {
        run(*crop, {{"images", x}, {"bounding_boxes", x}});
      },
      "dict with keys 'boxes' and 'labels'");
  const RandomElasticTransform elastic(RandomElasticTransformConfig{.bounding_box_format = "xyxy"});
  expect_user_error([&] { run(*elastic, data); }, {"RandomElasticTransform", "bounding boxes"});
}

// Runs a layer on images of positions with the box [2, 2, 6, 4] in each.
Tree<Tensor> with_box(Layer& layer) {
  Tensor boxes(f32, {images_drawn, 1, 4});
  for (int64_t i = 0; i < boxes.count(); ++i)
    boxes.set(i, std::array{2, 2, 6, 4}.at(static_cast<size_t>(i % 4)));
  const Tensor labels = Tensor::full(i32, {images_drawn, 1}, 7);
  const Tree<MaskedTensor>::Dict box = {{"boxes", MaskedTensor{boxes}},
                                        {"labels", MaskedTensor{labels}}};
  const Tree<MaskedTensor>::Dict data = {{"images", MaskedTensor{positions_of_pixels()}},
                                         {"bounding_boxes", Tree<MaskedTensor>(box)}};
  return run_layer(layer, {{Tree<MaskedTensor>(data)}, {}}, {.training = true}).outputs;
}
void expect_box(const Tree<Tensor>& out, int64_t i, const std::array<double, 4>& sides) {
  for (int64_t k = 0; k < 4; ++k)
    EXPECT_NEAR(out["bounding_boxes"]["boxes"].leaf().at(i * 4 + k),
                sides.at(static_cast<size_t>(k)), 1e-4)
        << "image " << i << ", side " << k;
  EXPECT_EQ(out["bounding_boxes"]["labels"].leaf().at(i), 7);
}

TEST(RandomImageLayers, MoveBoxesWithTheirImages) {
  const auto flipped =
      with_box(*RandomFlip({.mode = "horizontal", .seed = 3, .bounding_box_format = "xyxy"}));
  const auto moved = with_box(*RandomTranslation(
      {.height_factor = 0.1, .width_factor = 0.2, .seed = 4, .bounding_box_format = "xyxy"}));
  const auto sheared = with_box(*RandomShear(
      {.x_factor = {0.1, 0.2}, .y_factor = 0.0, .seed = 5, .bounding_box_format = "xyxy"}));
  for (int64_t i = 0; i < images_drawn; ++i) {
    const bool turned = source(flipped["images"].leaf(), i, 0, 0).x != 0;
    expect_box(flipped, i, {turned ? 3.0 : 2.0, 2, turned ? 7.0 : 6.0, 4});
    const Position p = source(moved["images"].leaf(), i, 4, 4);
    const double x = 4 - p.x, y = 4 - p.y;
    expect_box(moved, i, {2 + x, 2 + y, 6 + x, 4 + y});
    const double by = source(sheared["images"].leaf(), i, 4, 4).x / 4 - 1;
    const double near = by < 0 ? 2 : 4, far = by < 0 ? 4 : 2;
    expect_box(sheared, i, {2 - by * near, 2, 6 - by * far, 4});
  }
}

}  // namespace
}  // namespace keratin
