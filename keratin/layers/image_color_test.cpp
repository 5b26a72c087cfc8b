#include "keratin/layers/image_color.h"

#include <cmath>
#include <map>
#include <set>

#include "keratin/engine/compile.h"
#include "keratin/graph/input.h"
#include "keratin/graph/tracer.h"
#include "keratin/ir/node.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

using enum DType;

// Distinct values from 0 to 255.
Tensor pixels(const Shape& shape) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.count(); ++i)
    values.push_back(static_cast<double>((i * 71 + 13) % 251) + 0.25);
  return Tensor::of(f32, shape, values);
}

Tensor run(Layer& layer, const Tensor& x, bool training = true) {
  return run_layer(layer, {{MaskedTensor{x}}, {}}, {.training = training}).outputs.leaf();
}

Tree<Tensor> run_dict(Layer& layer, Tree<MaskedTensor>::Dict data, bool training = true) {
  return run_layer(layer, {{std::move(data)}, {}}, {.training = training}).outputs;
}

// What given random numbers make of images.
Tensor transformed(const ColorLayer& layer, const Tensor& images,
                   const std::vector<std::pair<std::string, Tensor>>& numbers) {
  Module module;
  Tracer tracer(module, /*training=*/true);
  std::vector<Tensor> data = {images.clone()};
  const Value x = module.input({images.dtype(), images.shape()}, "x");
  Results::Dict drawn;
  for (const auto& [name, tensor] : numbers) {
    drawn.emplace(name, module.input({tensor.dtype(), tensor.shape()}, name));
    data.push_back(tensor.clone());
  }
  const Call call(tracer, layer, {{Traced{x}}, {}}, /*training=*/true);
  module.output(layer.transform_images(call, x, drawn));
  return compile(std::move(module))(data)[0];
}

struct Moments {
  double mean = 0, variance = 0, least = INFINITY, most = -INFINITY;
};
Moments moments(const std::vector<double>& values) {
  Moments m;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) {
    m.mean += v / n;
    m.least = std::min(m.least, v);
    m.most = std::max(m.most, v);
  }
  for (const double v : values) m.variance += (v - m.mean) * (v - m.mean) / n;
  return m;
}
void expect_uniform(const std::vector<double>& values, double low, double high) {
  const Moments m = moments(values);
  EXPECT_GE(m.least, low - 1e-4);
  EXPECT_LE(m.most, high + 1e-4);
  EXPECT_NEAR(m.mean, (low + high) / 2, 0.03 * (high - low));
  EXPECT_NEAR(m.variance, (high - low) * (high - low) / 12, 0.01 * (high - low) * (high - low));
}

double share_below(const std::vector<double>& values, double limit) {
  double count = 0;
  for (const double v : values) count += v < limit ? 1 : 0;
  return count / static_cast<double>(values.size());
}

std::vector<LayerPtr> random_layers(int64_t seed) {
  return {RandomBrightness({.factor = 0.5, .seed = seed}),
          RandomContrast({.factor = 0.5, .seed = seed}),
          RandomColorDegeneration({.factor = 0.5, .seed = seed}),
          RandomHue({.factor = 0.5, .seed = seed}),
          RandomInvert({.factor = 0.5, .seed = seed}),
          RandomPosterization({.factor = 8, .seed = seed}),
          RandomSharpness({.factor = 1, .seed = seed}),
          Solarization({.addition_factor = 0.5, .threshold_factor = 0.5, .seed = seed}),
          RandomGrayscale({.factor = 0.5, .seed = seed}),
          RandomGaussianBlur({.factor = 0.5, .seed = seed}),
          RandomErasing({.seed = seed}),
          CutMix({.seed = seed}),
          MixUp({.alpha = 1, .seed = seed}),
          RandomColorJitter({.brightness_factor = 0.2, .contrast_factor = 0.2, .seed = seed}),
          RandAugment({.seed = seed}),
          AugMix({.seed = seed})};
}

TEST(ImageColors, FollowTheSeed) {
  const Tensor x = pixels({8, 5, 4, 3});
  const auto a = random_layers(3), b = random_layers(3), other = random_layers(4);
  for (size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(a[i]->class_name());
    const Tensor first = run(*a[i], x), second = run(*a[i], x);
    EXPECT_FALSE(first == second) << "two calls draw other numbers";
    EXPECT_FALSE(run(*other[i], x) == first) << "another seed";
    EXPECT_EQ(run(*b[i], x), first) << "the same seed";
    EXPECT_EQ(run(*b[i], x), second);
    EXPECT_EQ(run(*a[i], x, /*training=*/false), x);
    EXPECT_TRUE(a[i]->weights().empty());
    EXPECT_EQ(run(*a[i], pixels({5, 4, 3})).shape(), Shape({5, 4, 3}));
  }
}

TEST(ImageColors, InferShapesOfUnknownSizes) {
  const auto x = Input({unknown, unknown, 3});
  for (const LayerPtr& layer : random_layers(1)) {
    SCOPED_TRACE(layer->class_name());
    EXPECT_EQ((*layer)(x, {{"training", true}}).leaf().shape(),
              Shape({unknown, unknown, unknown, 3}));
  }
  EXPECT_EQ(AutoContrast()(x).leaf().shape(), Shape({unknown, unknown, unknown, 3}));
  EXPECT_EQ(Equalization()(x, {{"training", true}}).leaf().shape(),
            Shape({unknown, unknown, unknown, 3}));
  EXPECT_EQ(ContrastLimitedAdaptiveHistogramEqualization()(x).leaf().shape(),
            Shape({unknown, unknown, unknown, 3}));
}

// Brightness adds one number to each image; it is uniform between the ends of the factor.
TEST(RandomBrightness, AddsAUniformNumber) {
  const Tensor x = Tensor::full(f32, {2000, 1, 2, 1}, 100);
  const Tensor y = run(*RandomBrightness({.factor = {-0.1, 0.3}, .seed = 2}), x);
  std::vector<double> numbers;
  for (int64_t i = 0; i < 2000; ++i) {
    numbers.push_back((y.at(2 * i) - 100) / 255);
    EXPECT_EQ(y.at(2 * i), y.at(2 * i + 1));
  }
  expect_uniform(numbers, -0.1, 0.3);
}

TEST(RandomContrast, MultipliesByAUniformNumber) {
  std::vector<double> values;
  for (int64_t i = 0; i < 2000; ++i) values.insert(values.end(), {100, 110});
  const Tensor x = Tensor::of(f32, {2000, 1, 2, 1}, values);
  const Tensor y = run(*RandomContrast({.factor = {0.2, 0.5}, .seed = 2}), x);
  std::vector<double> numbers;
  for (int64_t i = 0; i < 2000; ++i) {
    numbers.push_back((y.at(2 * i + 1) - y.at(2 * i)) / 10);
    EXPECT_NEAR(y.at(2 * i + 1) + y.at(2 * i), 210, 1e-3);
  }
  expect_uniform(numbers, 0.8, 1.5);
}

TEST(RandomSharpness, MixesByAUniformNumber) {
  const Tensor x = Tensor::full(f32, {2000, 1, 1, 1}, 130);  // blurred: 50
  const Tensor y = run(*RandomSharpness({.factor = {0.1, 0.4}, .seed = 2}), x);
  std::vector<double> numbers;
  for (const double v : y.to_vector()) numbers.push_back((1 - (130 - v) / 80) / 2);
  expect_uniform(numbers, 0.1, 0.4);
}

TEST(RandomInvert, InvertsWithItsProbability) {
  const Tensor x = Tensor::full(f32, {4000, 1, 1, 1}, 55);
  const Tensor y = run(*RandomInvert({.factor = {0.2, 0.4}, .seed = 2}), x);
  for (const double v : y.to_vector()) EXPECT_TRUE(v == 55 || v == 200) << v;
  EXPECT_NEAR(share_below(y.to_vector(), 100), 0.7, 0.03);
}

TEST(RandomPosterization, KeepsFewerBitsThanTheUpperEnd) {
  const Tensor x = Tensor::full(f32, {3000, 1, 1, 1}, 255);
  const Tensor y = run(*RandomPosterization({.factor = {2, 5}, .seed = 2}), x);
  std::map<double, int> counts;
  for (const double v : y.to_vector()) ++counts[v];
  ASSERT_EQ(counts.size(), 3U);
  for (const double level : {192, 224, 240}) EXPECT_NEAR(counts[level], 1000, 120) << level;
}

TEST(Solarization, InvertsAboveARandomThreshold) {
  std::vector<double> values;
  for (int64_t i = 0; i < 2000; ++i) values.push_back(60);
  const Tensor x = Tensor::of(f32, {2000, 1, 1, 1}, values);
  const Tensor inverted = run(*Solarization({.addition_factor = 0.2, .seed = 2}), x);
  std::vector<double> additions;
  for (const double v : inverted.to_vector()) additions.push_back(195 - v);
  expect_uniform(additions, 0, 51);
  const Tensor some = run(*Solarization({.threshold_factor = 0.5, .seed = 2}), x);
  for (const double v : some.to_vector()) EXPECT_TRUE(v == 60 || v == 195) << v;
  EXPECT_NEAR(share_below(some.to_vector(), 100), 1 - 60 / 127.5, 0.04);
}

TEST(RandomErasing, FillsBoxes) {
  constexpr int64_t n = 2000, size = 20;
  const Tensor x = Tensor::full(f32, {n, size, size, 1}, 9);
  const Tensor y = run(
      *RandomErasing({.factor = {0.5, 0.5}, .scale = {0.1, 0.4}, .fill_value = 3, .seed = 2}), x);
  double erased = 0, area = 0;
  for (int64_t i = 0; i < n; ++i) {
    int64_t filled = 0, top = size, left = size, bottom = -1, right = -1;
    for (int64_t row = 0; row < size; ++row)
      for (int64_t column = 0; column < size; ++column)
        if (y.at((i * size + row) * size + column) == 3) {
          ++filled;
          top = std::min(top, row), bottom = std::max(bottom, row);
          left = std::min(left, column), right = std::max(right, column);
        }
    if (filled == 0) continue;
    EXPECT_EQ(filled, (bottom - top + 1) * (right - left + 1)) << "a box";
    ++erased;
    area += static_cast<double>(filled) / (size * size);
  }
  EXPECT_NEAR(erased / n, 0.5, 0.04);
  // The square of the mean of √s, s uniform between 0.1 and 0.4.
  const double side = 2.0 / 3 * (std::pow(0.4, 1.5) - std::pow(0.1, 1.5)) / 0.3;
  EXPECT_NEAR(area / erased, side * side, 0.02);
}

TEST(RandomErasing, FillsWithNoise) {
  const Tensor y = run(*RandomErasing({.factor = {1, 1}, .scale = {1, 1}, .seed = 2}),
                       Tensor::full(f32, {4, 50, 50, 2}, 9));
  // Half of it is clipped to 0, and the share above one deviation to 255.
  EXPECT_NEAR(share_below(y.to_vector(), 1e-9), 0.5, 0.02);
  EXPECT_NEAR(share_below(y.to_vector(), 255), 0.8413, 0.02);
}

// The images of the batch are 0, 1, 2, …, so a pixel shows which image it is from.
TEST(CutMix, PastesABoxOfAnotherImageAndMixesLabels) {
  constexpr int64_t n = 400, size = 32;
  std::vector<double> values, labels;
  for (int64_t i = 0; i < n; ++i) {
    values.insert(values.end(), size * size, static_cast<double>(i));
    labels.push_back(static_cast<double>(i));
  }
  const Tensor x = Tensor::of(f32, {n, size, size, 1}, values);
  const auto out = run_dict(
      *CutMix({.seed = 2}),
      {{"images", MaskedTensor{x}}, {"labels", MaskedTensor{Tensor::of(f32, {n, 1}, labels)}}});
  const Tensor y = out["images"].leaf(), mixed = out["labels"].leaf();
  std::vector<double> shares;
  std::set<double> pasted;
  for (int64_t i = 0; i < n; ++i) {
    double other = -1, count = 0;
    for (int64_t k = 0; k < size * size; ++k) {
      const double v = y.at(i * size * size + k);
      if (v == static_cast<double>(i)) continue;
      EXPECT_TRUE(other < 0 || other == v) << "from one image";
      other = v;
      ++count;
    }
    if (other < 0) continue;
    EXPECT_TRUE(pasted.insert(other).second) << "each image is pasted once";
    const double share = (mixed.at(i) - static_cast<double>(i)) / (other - static_cast<double>(i));
    EXPECT_NEAR(share, count / (size * size), 2.5 / size) << "by the area";
    shares.push_back(share);
  }
  const Moments m = moments(shares);
  EXPECT_GT(shares.size(), 200U);
  EXPECT_GT(m.variance, 0.02);
}

// Labels of as many classes as samples.
Tensor one_hot(int64_t n) {
  Tensor all = Tensor::zeros(f32, {n, n});
  for (int64_t i = 0; i < n; ++i) all.set(i * n + i, 1);
  return all;
}

std::vector<double> weights_of_mix_up(double alpha, int64_t n) {
  std::vector<double> labels;
  for (int64_t i = 0; i < n; ++i) labels.push_back(static_cast<double>(i));
  const Tensor x = Tensor::of(f32, {n, 1, 1, 1}, labels);
  const auto out = run_dict(*MixUp({.alpha = alpha, .seed = 2}),
                            {{"images", MaskedTensor{x}}, {"labels", MaskedTensor{one_hot(n)}}});
  std::vector<double> weights;
  for (int64_t i = 0; i < n; ++i) {
    int64_t other = i;
    for (int64_t k = 0; k < n; ++k)
      if (k != i && out["labels"].leaf().at(i * n + k) > 0) other = k;
    const double weight = out["labels"].leaf().at(i * n + i);
    if (other == i) continue;
    weights.push_back(weight);
    EXPECT_NEAR(out["images"].leaf().at(i),
                weight * static_cast<double>(i) + (1 - weight) * static_cast<double>(other), 1e-2);
  }
  return weights;
}

// Shares of the distribution beta(alpha, alpha), by numeric integration.
TEST(MixUp, WeighsByABetaDistribution) {
  struct Case {
    double alpha, below_a_tenth, below_a_quarter;
  };
  for (const auto& [alpha, tenth, quarter] :
       {Case{1, 0.1, 0.25}, Case{0.2, 0.33669, 0.41406}, Case{3, 0.00856, 0.10352}}) {
    SCOPED_TRACE(alpha);
    const std::vector<double> weights = weights_of_mix_up(alpha, 1500);
    EXPECT_GT(weights.size(), 900U);
    EXPECT_NEAR(moments(weights).mean, 0.5, 0.04);
    if (alpha < 1) continue;  // labels of the smallest weights are like those of others
    EXPECT_NEAR(moments(weights).variance, 1 / (4 * (2 * alpha + 1)), 0.01);
    EXPECT_NEAR(share_below(weights, 0.1), tenth, 0.025);
    EXPECT_NEAR(share_below(weights, 0.25), quarter, 0.03);
  }
}

// Keras's own examples.
TEST(MixUp, MixesByGivenNumbers) {
  const Tensor x = pixels({4, 2, 2, 3});
  const Tensor y =
      transformed(*MixUp(), x,
                  {{"mix_weight", Tensor::scalar(f32, 0.2)},
                   {"permutation_order", Tensor::of<int64_t>(i64, {4}, {1, 0, 2, 3})}});
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(y.at(i), 0.2 * x.at(i) + 0.8 * x.at(12 + i), 1e-4);
    EXPECT_NEAR(y.at(24 + i), x.at(24 + i), 1e-4);
  }
}

TEST(CutMix, PastesByGivenMasks) {
  const Tensor x = pixels({2, 2, 2, 1});
  const Tensor y = transformed(
      *CutMix(), x,
      {{"batch_masks", Tensor::of<int>(boolean, {2, 2, 2, 1}, {0, 1, 0, 0, 0, 0, 1, 0})},
       {"permutation_order", Tensor::of<int64_t>(i64, {2}, {1, 0})}});
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(y.at(i), x.at(i == 1 ? 5 : i == 6 ? 2 : i)) << i;
}

TEST(RandomErasing, FillsGivenMasks) {
  const Tensor y =
      transformed(*RandomErasing(), Tensor::full(f32, {1, 2, 2, 1}, 1),
                  {{"apply_erasing", Tensor::of<int>(boolean, {1}, {1})},
                   {"batch_masks", Tensor::of<int>(boolean, {1, 2, 2, 1}, {1, 0, 0, 0})},
                   {"fill_value", Tensor::scalar(f32, 0)}});
  EXPECT_EQ(y, Tensor::of<double>(f32, {1, 2, 2, 1}, {0, 1, 1, 1}));
}

TEST(RandomGaussianBlur, BlursByGivenSigmas) {
  const Tensor y = transformed(*RandomGaussianBlur(), Tensor::full(f32, {1, 2, 2, 3}, 1),
                               {{"blur_factor", Tensor::of<double>(f32, {2}, {0.3732, 0.8654})},
                                {"should_apply_blur", Tensor::of<int>(boolean, {1}, {1})}});
  for (const double v : y.to_vector()) EXPECT_NEAR(v, 0.7273, 1e-4);
}

// Unless the range is [0, 1], Keras computes in float32, whose finite differences say nothing.
TEST(RandomHue, BehavesAsInKeras) {
  testing::check_layer("RandomHue",
                       {.no_gradient = {"training", "one image", "channels_first", "dict",
                                        "dict of one image", "mixed_float16", "float64", "none"}});
}

// Its parts compute in float32.
TEST(RandomColorJitter, BehavesAsInKeras) {
  testing::check_layer("RandomColorJitter",
                       {.no_gradient = {"training", "one image", "dict", "dict of one image",
                                        "mixed_float16", "float64"}});
}

TEST(RandomHue, TurnsBothWays) {
  const Tensor x = Tensor::of<double>(f32, {1, 1, 1, 3}, {200, 100, 50});
  const auto turned = [&](double turn) {
    return transformed(*RandomHue(), x, {{"factor", Tensor::full(f32, {1}, turn)}}).to_vector();
  };
  const auto a = turned(1.0 / 3), b = turned(-1.0 / 3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(a[(i + 1) % 3], x.to_vector()[i], 1e-2);
    EXPECT_NEAR(b[(i + 2) % 3], x.to_vector()[i], 1e-2);
  }
}

TEST(RandomGrayscale, TakesColoursWithItsProbability) {
  std::vector<double> values;
  for (int64_t i = 0; i < 2000; ++i) values.insert(values.end(), {10, 20, 30});
  const Tensor y =
      run(*RandomGrayscale({.factor = 0.3, .seed = 2}), Tensor::of(f32, {2000, 1, 1, 3}, values));
  double grey = 0;
  for (int64_t i = 0; i < 2000; ++i) grey += y.at(3 * i) == y.at(3 * i + 2) ? 1 : 0;
  EXPECT_NEAR(grey / 2000, 0.3, 0.03);
}

// Every level occurs, as in Keras's test.
TEST(Equalization, UsesAllLevels) {
  const Tensor y = run(*Equalization(), pixels({2, 64, 64, 3}));
  const auto all = y.to_vector();
  EXPECT_GE(std::set<double>(all.begin(), all.end()).size(), 250U);
  EXPECT_EQ(run(*Equalization(), Tensor::full(f32, {1, 8, 8, 3}, 128)),
            Tensor::full(f32, {1, 8, 8, 3}, 128));
}

// A channel of one value is left as it is, although its range is 0.
TEST(AutoContrast, LeavesASingleValue) {
  const Tensor x = Tensor::of<double>(f32, {1, 2, 1, 2}, {1, 3, 1, 5});
  EXPECT_EQ(run(*AutoContrast(), x), Tensor::of<double>(f32, {1, 2, 1, 2}, {1, 0, 1, 255}));
  const Tensor y = run(*AutoContrast({.value_range = {0, 1}}, LayerOptions{.dtype = "float16"}),
                       Tensor::full(f32, {1, 2, 1, 1}, 0.5));
  EXPECT_EQ(y, Tensor::full(f16, {1, 2, 1, 1}, 0.5));
}

// As in Keras, masks of segments are mixed with single elements.
TEST(MixUp, MixesSegmentationMasksAsKeras) {
  const MixUp mix({.seed = 1});
  const auto out =
      run_dict(*mix, {{"images", MaskedTensor{pixels({2, 2, 3, 1})}},
                      {"segmentation_masks", MaskedTensor{Tensor::full(f32, {2, 2, 3, 1}, 7)}}});
  const Tensor masks = out["segmentation_masks"].leaf();
  EXPECT_EQ(masks.shape(), Shape({2, 2, 3, 2}));
  for (const double v : masks.to_vector()) EXPECT_NEAR(v, 7, 1e-4);
}

// As in Keras, the labels of boxes are joined along the batch.
TEST(MixUp, JoinsBoxesAsKeras) {
  const MixUp mix({.seed = 1, .bounding_box_format = "xyxy"});
  const Tree<MaskedTensor> boxes =
      Tree<MaskedTensor>::Dict{{"boxes", MaskedTensor{Tensor::full(i32, {2, 3, 4}, 5)}},
                               {"labels", MaskedTensor{Tensor::full(i32, {2, 3}, 1)}}};
  const auto out =
      run_dict(*mix, {{"images", MaskedTensor{pixels({2, 2, 3, 1})}}, {"bounding_boxes", boxes}});
  EXPECT_EQ(out["bounding_boxes"]["boxes"].leaf(), Tensor::full(f32, {2, 6, 4}, 5));
  EXPECT_EQ(out["bounding_boxes"]["labels"].leaf(), Tensor::full(i32, {4, 3}, 1));
}

TEST(ImageColors, RefuseFactorsOutsideOfTheirLimits) {
  expect_user_error([] { RandomBrightness({.factor = 1.1}); },
                    {"The `factor` argument should be a number (or a list of two numbers) in the "
                     "range [-1, 1]. Received: factor=1.1"});
  expect_user_error([] { RandomBrightness({.factor = -1.1}); }, "The `factor` argument");
  expect_user_error([] { RandomBrightness({.factor = std::vector<double>{0.1}}); }, "factor=[0.1]");
  expect_user_error([] { RandomContrast({.factor = {1.5, 2}}); }, "[0, 1]");
  expect_user_error([] { RandomHue({.factor = -0.5}); }, "[0, 1]");
  expect_user_error([] { RandomPosterization({.factor = 9}); }, "[1, 8]");
  expect_user_error([] { RandomPosterization({.factor = 0}); }, "[1, 8]");
  expect_user_error([] { RandomGrayscale({.factor = 1.1}); },
                    "`factor` should be between 0 and 1. Received: factor=1.1");
  expect_user_error([] { RandomErasing({.scale = 2}); }, "The `scale` argument");
  expect_user_error([] { RandomGaussianBlur({.sigma = 2}); }, "The `sigma` argument");
  expect_user_error([] { RandomGaussianBlur({.kernel_size = 4}); },
                    "kernel_size must be an odd number. Received: kernel_size=4");
  expect_user_error([] { CutMix({.factor = 2}); }, "The `factor` argument");
  expect_user_error([] { MixUp({.alpha = 0}); }, "alpha must be positive");
  expect_user_error([] { Solarization({.addition_factor = 1.5}); },
                    {"`addition_factor` and `threshold_factor`", "input_number=1.5"});
  expect_user_error([] { Solarization({.threshold_factor = std::vector<double>{0.5}}); },
                    "threshold_factor=[0.5]");
  expect_user_error([] { RandomColorJitter({.hue_factor = 2}); }, "The `factor` argument");
}

TEST(ImageColors, RefuseOtherValueRanges) {
  expect_user_error([] { RandomBrightness({.value_range = std::vector<double>{10}}); },
                    "The `value_range` argument should be a list of two numbers. Received: "
                    "value_range=[10.0]");
  expect_user_error([] { AutoContrast({.value_range = 3}); }, "`value_range`");
  expect_user_error([] { Equalization({.value_range = {1, 2, 3}}); }, "`value_range`");
  expect_user_error([] { Equalization({.bins = 0}); }, "bins must be");
  expect_user_error([] { AutoContrast({.data_format = "channels"}); }, "`data_format`");
}

TEST(ImageColors, RefuseOtherRanks) {
  const Tensor x = Tensor::zeros(f32, {10, 10});
  expect_user_error([&] { run(*RandomBrightness({.factor = 0.1}), x); },
                    "Expected the input image to be rank 3 or 4. Received inputs.shape=(10, 10)");
  expect_user_error([&] { run(*AutoContrast(), x); },
                    "Expected image tensor to have rank 3 (single image) or 4 (batch of images). "
                    "Received: data.shape=(10, 10)");
  expect_user_error(
      [&] {
        run(*RandomErasing({.fill_value = Numbers{1, 2}}), Tensor::zeros(f32, {2, 4, 4, 3}));
      },
      "The `fill_value` argument should be a number (or a list of three numbers)");
}

TEST(ImageColors, RefuseDictsWithoutWhatTheyNeed) {
  const MaskedTensor x{pixels({2, 3, 3, 3})}, boxes{Tensor::zeros(f32, {2, 1, 4})},
      labels{Tensor::zeros(f32, {2, 1})};
  const Tree<MaskedTensor> boxed = Tree<MaskedTensor>::Dict{{"boxes", boxes}, {"labels", labels}};
  expect_user_error(
      [&] {
        run_dict(*MixUp(), {{"labels", labels}});
      },
      "expected images, or a dict with the key 'images', got {labels: *}");
  expect_user_error(
      [&] {
        run_dict(*MixUp(), {{"images", x}, {"bounding_boxes", boxed}});
      },
      {"You passed an input with a 'bounding_boxes' key", "to your MixUp layer"});
  const MixUp mix({.bounding_box_format = "xyxy"});
  expect_user_error(
      [&] {
        run_dict(*mix, {{"images", x}, {"bounding_boxes", boxes}});
      },
      "dict with keys 'boxes' and 'labels'");
  const CutMix cut({.bounding_box_format = "xyxy"});
  expect_user_error(
      [&] {
        run_dict(*cut, {{"images", x}, {"bounding_boxes", boxed}});
      },
      "bounding boxes cannot be mixed");
}

TEST(ContrastLimitedAdaptiveHistogramEqualization, RefusesMoreTilesThanPixels) {
  const ContrastLimitedAdaptiveHistogramEqualization layer({.tile_grid_size = {8, 2}});
  expect_user_error([&] { run(*layer, pixels({1, 3, 4, 1})); }, "8 tiles are too many for 3");
  expect_user_error(
      [] {
        ContrastLimitedAdaptiveHistogramEqualization({.tile_grid_size = {0, 2}});
      },
      "tile_grid_size must be two numbers");
}

}  // namespace
}  // namespace keratin
