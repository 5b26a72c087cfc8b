#include "keratin/layers/dropout.h"

#include <cmath>

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

using enum DType;

Tensor train(Layer& layer, const Tensor& x) {
  return run_layer(layer, {{MaskedTensor{x}}, {}}, {.training = true}).outputs.leaf();
}

struct Moments {
  double mean = 0, variance = 0;
};
Moments moments(const Tensor& x) {
  Moments m;
  const auto n = static_cast<double>(x.count());
  for (const double v : x.to_vector()) m.mean += v / n;
  for (const double v : x.to_vector()) m.variance += (v - m.mean) * (v - m.mean) / n;
  return m;
}

TEST(Noise, FollowsTheSeed) {
  const Tensor x = Tensor::full(f32, {4, 3, 5}, 1);
  const std::function<LayerPtr(int64_t)> makers[] = {
      [](int64_t seed) { return Dropout({.rate = 0.5, .seed = seed}); },
      [](int64_t seed) { return AlphaDropout({.rate = 0.5, .seed = seed}); },
      [](int64_t seed) { return GaussianDropout({.rate = 0.5, .seed = seed}); },
      [](int64_t seed) { return GaussianNoise({.stddev = 0.5, .seed = seed}); },
      [](int64_t seed) { return SpatialDropout1D({.rate = 0.5, .seed = seed}); },
  };
  for (const auto& make : makers) {
    const LayerPtr a = make(3), b = make(3), other = make(4);
    SCOPED_TRACE(a->class_name());
    const Tensor first = train(*a, x), second = train(*a, x);
    EXPECT_FALSE(first == second) << "two calls draw other numbers";
    EXPECT_FALSE(train(*other, x) == first) << "another seed";
    EXPECT_EQ(train(*b, x), first) << "the same seed";
    EXPECT_EQ(train(*b, x), second);
    EXPECT_EQ(run_layer(*a, {{MaskedTensor{x}}, {}}).outputs.leaf(), x);
    EXPECT_TRUE(a->weights().empty());
    EXPECT_EQ(a->variables().size(), 1u);
  }
}

TEST(Noise, DiffersBetweenLayersWithoutASeed) {
  const Tensor x = Tensor::full(f32, {100}, 1);
  EXPECT_FALSE(train(*Dropout({.rate = 0.5}), x) == train(*Dropout({.rate = 0.5}), x));
}

TEST(Dropout, DropsTheRateAndKeepsTheMean) {
  const Tensor y = train(*Dropout({.rate = 0.3, .seed = 1}), Tensor::full(f32, {100, 200}, 1));
  int64_t dropped = 0;
  for (const double v : y.to_vector()) {
    EXPECT_TRUE(v == 0 || std::fabs(v - 1 / 0.7) < 1e-6) << v;
    dropped += v == 0;
  }
  EXPECT_NEAR(static_cast<double>(dropped) / 20000, 0.3, 0.015);
}

TEST(Dropout, IsZeroAtRateOne) {
  const Tensor x = Tensor::full(f32, {2, 3}, 1);
  EXPECT_EQ(train(*Dropout({.rate = 1}), x), Tensor::zeros(f32, {2, 3}));
  EXPECT_EQ(train(*SpatialDropout1D({.rate = 1}), x.reshape({1, 2, 3})),
            Tensor::zeros(f32, {1, 2, 3}));
}

TEST(Dropout, DropsElementsTogetherAlongNoiseShape) {
  const NoiseShape noise = {{std::nullopt, 1, 3}};
  const Tensor y = train(*Dropout({.rate = 0.5, .seed = 1, .noise_shape = noise}),
                         Tensor::full(f32, {20, 4, 3}, 1));
  bool zero = false, kept = false;
  for (int64_t i = 0; i < 20; ++i)
    for (int64_t k = 0; k < 3; ++k)
      for (int64_t step = 0; step < 4; ++step) {
        EXPECT_EQ(y.at((i * 4 + step) * 3 + k), y.at(i * 12 + k));
        (y.at(i * 12 + k) == 0 ? zero : kept) = true;
      }
  EXPECT_TRUE(zero && kept);
  expect_user_error(
      [&] {
        train(*Dropout({.rate = 0.5, .noise_shape = noise}), Tensor::zeros(f32, {2, 3}));
      },
      {"noise_shape", "rank 2", "[null, 1, 3]"});
  expect_user_error([&] { Dropout({.rate = 0.5, .noise_shape = {{0, 1}}}); }, "noise_shape");
}

TEST(SpatialDropout, DropsWholeChannels) {
  const auto check = [](Layer& layer, const Shape& shape, int64_t channel_axis) {
    const Tensor y = train(layer, Tensor::full(f32, shape, 1));
    const int64_t inner = shape.count(channel_axis + 1, shape.rank()),
                  channels = shape[channel_axis], per_sample = shape.count(1, shape.rank());
    bool zero = false, kept = false;
    for (int64_t i = 0; i < y.count(); ++i) {
      const int64_t sample = i / per_sample, channel = i / inner % channels;
      const double first = y.at(sample * per_sample + channel * inner);
      EXPECT_EQ(y.at(i), first);
      (first == 0 ? zero : kept) = true;
    }
    EXPECT_TRUE(zero && kept);
  };
  check(*SpatialDropout1D({.rate = 0.5, .seed = 1}), {8, 4, 5}, 2);
  check(*SpatialDropout2D({.rate = 0.5, .seed = 1}), {8, 2, 3, 5}, 3);
  check(*SpatialDropout2D({.rate = 0.5, .seed = 1, .data_format = "channels_first"}), {8, 5, 2, 3},
        1);
  check(*SpatialDropout3D({.rate = 0.5, .seed = 1}), {8, 2, 3, 2, 5}, 4);
}

TEST(AlphaDropout, KeepsMeanAndVariance) {
  const auto normal = GaussianNoise({.stddev = 1, .seed = 5});
  const Tensor x = train(*normal, Tensor::zeros(f32, {200, 200}));
  const auto [mean, variance] = moments(train(*AlphaDropout({.rate = 0.4, .seed = 2}), x));
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_NEAR(variance, 1, 0.03);
}

TEST(GaussianNoise, HasMeanZeroAndItsDeviation) {
  const Tensor x = Tensor::full(f32, {200, 200}, 2);
  const auto noise = moments(train(*GaussianNoise({.stddev = 0.5, .seed = 3}), x));
  EXPECT_NEAR(noise.mean, 2, 0.01);
  EXPECT_NEAR(noise.variance, 0.25, 0.01);
  const auto product = moments(train(*GaussianDropout({.rate = 0.2, .seed = 3}), x));
  EXPECT_NEAR(product.mean, 2, 0.02);
  EXPECT_NEAR(product.variance, 4 * 0.25, 0.03);
}

TEST(Noise, InfersShapesOfUnknownBatches) {
  const auto x = Input({4, 3});
  const Keywords training = {{"training", true}};
  EXPECT_EQ(Dropout({.rate = 0.5})(x, training).leaf().shape(), Shape({unknown, 4, 3}));
  EXPECT_EQ(SpatialDropout1D({.rate = 0.5})(x, training).leaf().shape(), Shape({unknown, 4, 3}));
  EXPECT_EQ(AlphaDropout({.rate = 0.5})(x, training).leaf().shape(), Shape({unknown, 4, 3}));
  EXPECT_EQ(GaussianNoise({.stddev = 0.5})(x, training).leaf().shape(), Shape({unknown, 4, 3}));
}

TEST(Noise, RefusesRatesOutsideZeroToOne) {
  expect_user_error([] { Dropout({.rate = 1.5}); }, {"`rate`", "1.5"});
  expect_user_error([] { SpatialDropout2D({.rate = -0.5}); }, {"`rate`", "-0.5"});
  expect_user_error([] { AlphaDropout({.rate = 2}); }, "`rate`");
  expect_user_error([] { GaussianDropout({.rate = -1}); }, "`rate`");
  expect_user_error([] { GaussianNoise({.stddev = 2}); }, {"`stddev`", "2"});
  expect_user_error([] { train(*GaussianDropout({.rate = 1}), Tensor::zeros(f32, {2})); },
                    "a rate of 1");
}

}  // namespace
}  // namespace keratin
