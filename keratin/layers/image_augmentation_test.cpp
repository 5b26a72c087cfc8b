#include <cmath>
#include <functional>

#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/model.h"
#include "keratin/model/program.h"
#include "keratin/testing/expect_error.h"

// Golden files have what is not random. Here is what RandAugment and AugMix choose, how often, and
// that each choice is what the chosen layer does alone.
namespace keratin {
namespace {

using testing::expect_user_error;

using enum DType;
using Vector = std::vector<double>;

// The ends of a factor, so that layers draw the same number each time.
const Numbers fixed_factor = {0.3, 0.3};

// One image whose values change in every direction.
Tensor varied_image(int64_t copies = 1) {
  constexpr int64_t size = 6 * 5 * 3;
  Tensor x(f32, {copies, 6, 5, 3});
  for (int64_t i = 0; i < x.count(); ++i)
    x.set(i, 40 + static_cast<double>((i % size * i % size * 37 + i % size * 71) % 161));
  return x;
}

// A model of one layer that is called as in training.
Model augmenting(const LayerPtr& layer) {
  const auto x = Input({6, 5, 3});
  return Model({.inputs = x, .outputs = (*layer)(x, {{"training", true}})});
}
Vector augmented(const Model& model, const Tensor& x) {
  return model.run(Tree<Tensor>(x)).outputs.leaf().to_vector();
}

double distance(const Vector& a, const Vector& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// What a layer makes of the image; in some calls one of several.
struct Outcome {
  std::string by;
  Vector image;
};
std::vector<Outcome> outcomes_of(const std::vector<LayerPtr>& layers, const Tensor& x, int calls) {
  std::vector<Outcome> all;
  for (const LayerPtr& layer : layers) {
    const Model model = augmenting(layer);
    const size_t first = all.size();
    for (int i = 0; i < calls; ++i) {
      Vector image = augmented(model, x);
      bool known = false;
      for (size_t k = first; k < all.size(); ++k)
        known = known || distance(image, all[k].image) < 1e-2;
      if (!known) all.push_back({std::string(layer->class_name()), std::move(image)});
    }
  }
  return all;
}

// All layers but Solarization and RandomContrast, whose numbers are always random.
std::vector<LayerPtr> fixed_layers() {
  const Numbers f = fixed_factor;
  return {RandomShear({.x_factor = f, .y_factor = f}),
          RandomTranslation({.height_factor = f, .width_factor = f}),
          RandomRotation({.factor = f}),
          RandomPosterization({.factor = 2}),
          AutoContrast(),
          Equalization(),
          RandomBrightness({.factor = f}),
          RandomColorDegeneration({.factor = f}),
          RandomSharpness({.factor = f})};
}

struct Weighed {
  std::string by;
  double weight = 0;  // of what the layer makes of the image
};
// Finds the outcome t and the weight w with y = (1 - w) · x + w · t.
std::optional<Weighed> weighed(const Vector& x, const Vector& y,
                               const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    double product = 0, square = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double step = outcome.image[i] - x[i];
      product += step * (y[i] - x[i]), square += step * step;
    }
    const double w = product / square;
    Vector made = x;
    for (size_t i = 0; i < x.size(); ++i) made[i] += w * (outcome.image[i] - x[i]);
    if (distance(made, y) < 2e-2) return Weighed{outcome.by, w};
  }
  return {};
}

// RandomContrast changes an image in one direction, more or less.
std::vector<Outcome> contrast_of(const Tensor& x) {
  return outcomes_of({RandomContrast({.factor = {0.3, 0.3}, .seed = 5})}, x, 1);
}

// Each of `kinds` in about as many of `all` calls.
void expect_equally_often(const std::map<std::string, int>& counts, size_t kinds, int all) {
  EXPECT_EQ(counts.size(), kinds);
  const double share = 1 / static_cast<double>(kinds);
  const double slack = 4 * std::sqrt(share * (1 - share) * all);
  for (const auto& [name, count] : counts) EXPECT_NEAR(count, share * all, slack) << name;
}

TEST(RandAugment, AppliesEachLayerEquallyOften) {
  const Tensor x = varied_image();
  const auto known = outcomes_of(fixed_layers(), x, 20);
  EXPECT_EQ(known.size(), 10U) << "RandomShear has two directions";
  const auto contrast = contrast_of(x);
  const Model model = augmenting(RandAugment({.num_ops = 1, .factor = fixed_factor, .seed = 3}));
  std::map<std::string, int> counts;
  constexpr int calls = 1100;
  for (int i = 0; i < calls; ++i) {
    const Vector y = augmented(model, x);
    std::string by = "Solarization";
    for (const Outcome& outcome : known)
      if (distance(y, outcome.image) < 1e-2) by = outcome.by;
    ++counts[weighed(x.to_vector(), y, contrast) ? "RandomContrast" : by];
  }
  expect_equally_often(counts, 11, calls);
}

// Without strength, half of the layers change nothing, and the others do the same each time.
std::vector<LayerPtr> layers_without_strength() {
  return {RandomPosterization({.factor = 1}), Solarization(), AutoContrast(), Equalization(),
          RandomSharpness({.factor = 0})};
}

TEST(RandAugment, AppliesSeveralLayersInTurn) {
  const Tensor x = varied_image();
  const std::vector<LayerPtr> layers = layers_without_strength();
  std::vector<Outcome> known = outcomes_of(layers, x, 1);
  known.insert(known.begin(), {"", x.to_vector()});
  for (const Outcome& first : outcomes_of(layers, x, 1))
    for (const Outcome& second : outcomes_of(layers, Tensor::of(f32, x.shape(), first.image), 1))
      known.push_back({first.by + " " + second.by, second.image});
  const Model model = augmenting(RandAugment({.factor = 0, .seed = 3}));
  std::map<std::string, int> counts;
  for (int i = 0; i < 400; ++i) {
    const Vector y = augmented(model, x);
    std::string by = "unknown";
    for (const Outcome& outcome : known)
      if (by == "unknown" && distance(y, outcome.image) < 1e-2) by = outcome.by;
    ++counts[by];
  }
  EXPECT_EQ(counts["unknown"], 0);
  EXPECT_GT(counts[""], 400.0 * 36 / 121 * 0.7);
  EXPECT_GT(counts["RandomPosterization Solarization"], 0);
  EXPECT_GT(counts["Solarization RandomPosterization"], 0);
}

TEST(RandAugment, DrawsNumbersForEachImage) {
  const Model model = augmenting(RandAugment({.num_ops = 1, .seed = 3}));
  const Tensor x = varied_image(2);
  int same = 0, changed = 0;
  for (int i = 0; i < 100; ++i) {
    const Vector y = augmented(model, x);
    const auto middle = y.begin() + static_cast<int64_t>(y.size() / 2);
    if (std::equal(y.begin(), middle, middle))
      ++same;
    else
      ++changed;
  }
  // AutoContrast and Equalization draw nothing.
  EXPECT_GT(same, 5);
  EXPECT_GT(changed, 50);
}

Tree<MaskedTensor> boxed_image(const Tensor& x) {
  const Tensor boxes = Tensor::of<double>(f32, {1, 2, 4}, {1, 1, 3, 4, 0, 2, 5, 6});
  const Tree<MaskedTensor> all =
      Tree<MaskedTensor>::Dict{{"boxes", MaskedTensor{boxes}},
                               {"labels", MaskedTensor{Tensor::of<int64_t>(i32, {1, 2}, {7, 8})}}};
  return Tree<MaskedTensor>::Dict{{"images", MaskedTensor{x}},
                                  {"segmentation_masks", MaskedTensor{x.cast(i32)}},
                                  {"bounding_boxes", all}};
}
Tree<Tensor> with_boxes(const LayerPtr& layer, const Tensor& x) {
  return run_layer(*layer, {{boxed_image(x)}, {}}, {.training = true}).outputs;
}

// What moves images moves masks and boxes as well; what changes colours does not.
TEST(RandAugment, ChangesMasksAndBoxesAsItsLayersDo) {
  const Tensor x = varied_image();
  const Numbers f = fixed_factor;
  const std::vector<LayerPtr> geometry = {
      RandomShear({.x_factor = f,
                   .y_factor = f,
                   .interpolation = "nearest",
                   .bounding_box_format = "xyxy"}),
      RandomTranslation({.height_factor = f,
                         .width_factor = f,
                         .interpolation = "nearest",
                         .bounding_box_format = "xyxy"}),
      RandomRotation({.factor = f, .interpolation = "nearest", .bounding_box_format = "xyxy"})};
  std::vector<Tree<Tensor>> known;
  for (const LayerPtr& layer : geometry)
    for (int i = 0; i < (layer == geometry[0] ? 12 : 1); ++i) known.push_back(with_boxes(layer, x));
  const RandAugment layer({.num_ops = 1,
                           .factor = f,
                           .interpolation = "nearest",
                           .seed = 3,
                           .bounding_box_format = "xyxy"});
  int moved = 0;
  for (int i = 0; i < 60; ++i) {
    const Tree<Tensor> y = with_boxes(layer, x);
    const Tree<Tensor> given =
        boxed_image(x).map<Tensor>([](const MaskedTensor& t) { return t.value; });
    const Tree<Tensor>* expected = &given;
    for (const Tree<Tensor>& outcome : known)
      if (outcome["images"].leaf() == y["images"].leaf()) expected = &outcome;
    moved += expected == &given ? 0 : 1;
    EXPECT_EQ(y["segmentation_masks"].leaf(), (*expected)["segmentation_masks"].leaf());
    const Tree<Tensor>&boxes = y["bounding_boxes"], &wanted = (*expected)["bounding_boxes"];
    EXPECT_LT(distance(boxes["boxes"].leaf().to_vector(), wanted["boxes"].leaf().to_vector()),
              1e-4);
    EXPECT_EQ(boxes["labels"].leaf(), wanted["labels"].leaf());
  }
  EXPECT_GT(moved, 5);
  EXPECT_LT(moved, 30);
}

struct MeanAndVariance {
  double mean = 0, variance = 0;
};
MeanAndVariance spread_of(const Vector& values) {
  MeanAndVariance m;
  for (const double v : values) m.mean += v / static_cast<double>(values.size());
  for (const double v : values)
    m.variance += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
  return m;
}

TEST(AugMix, MixesTheImageWithWhatOneLayerMakesOfIt) {
  const Tensor x = varied_image();
  const auto known = outcomes_of(fixed_layers(), x, 20), contrast = contrast_of(x);
  const Model model =
      augmenting(AugMix({.num_chains = 1, .chain_depth = 1, .factor = fixed_factor, .seed = 3}));
  std::map<std::string, int> counts;
  Vector weights;
  constexpr int calls = 1200;
  for (int i = 0; i < calls; ++i) {
    const Vector y = augmented(model, x);
    const bool same = distance(y, x.to_vector()) < 2e-4;
    const auto found = same ? Weighed{"none"} : weighed(x.to_vector(), y, known);
    if (found && !same) weights.push_back(found->weight);
    if (found)
      ++counts[found->by];
    else
      ++counts[weighed(x.to_vector(), y, contrast) ? "RandomContrast" : "Solarization"];
  }
  expect_equally_often(counts, 12, calls);
  // Of the distribution beta(1, 1), which is even.
  const auto [mean, variance] = spread_of(weights);
  EXPECT_NEAR(mean, 0.5, 0.04);
  EXPECT_NEAR(variance, 1.0 / 12, 0.01);
}

// The shares of two layers in the sum of two chains.
Vector shares_of_chains(double alpha, int calls) {
  const Tensor x = varied_image();
  const Vector from = x.to_vector();
  const auto known = outcomes_of({AutoContrast(), Equalization()}, x, 1);
  const Vector &a = known[0].image, &b = known[1].image;
  const Model model = augmenting(
      AugMix({.num_chains = 2, .chain_depth = 1, .factor = 0, .alpha = alpha, .seed = 3}));
  Vector shares;
  for (int i = 0; i < calls; ++i) {
    const Vector y = augmented(model, x);
    double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
    for (size_t k = 0; k < y.size(); ++k) {
      const double u = a[k] - from[k], v = b[k] - from[k], w = y[k] - from[k];
      aa += u * u, ab += u * v, bb += v * v, ay += u * w, by += v * w;
    }
    const double below = aa * bb - ab * ab;
    const double first = (ay * bb - by * ab) / below, second = (by * aa - ay * ab) / below;
    Vector made = from;
    for (size_t k = 0; k < y.size(); ++k)
      made[k] += first * (a[k] - from[k]) + second * (b[k] - from[k]);
    if (distance(made, y) < 1e-2 && first > 1e-3 && second > 1e-3)
      shares.push_back(first / (first + second));
  }
  return shares;
}

// The share of one of two numbers from a Dirichlet distribution is from beta(alpha, alpha).
TEST(AugMix, WeighsChainsByADirichletDistribution) {
  for (const double alpha : {1.0, 6.0}) {
    SCOPED_TRACE(alpha);
    const Vector shares = shares_of_chains(alpha, 8000);
    ASSERT_GT(shares.size(), 60U);  // 2 of 144 calls
    const auto [mean, variance] = spread_of(shares);
    const double expected = 1 / (4 * (2 * alpha + 1));
    const auto n = static_cast<double>(shares.size());
    EXPECT_NEAR(mean, 0.5, 4 * std::sqrt(expected / n));
    EXPECT_NEAR(variance, expected, 0.4 * expected);
  }
}

TEST(AugMix, LeavesColoursAloneWithoutAllOps) {
  const Tensor x = varied_image();
  const Numbers f = fixed_factor;
  std::vector<LayerPtr> layers = fixed_layers();
  layers.resize(6);
  const auto known = outcomes_of(layers, x, 20);
  const Model model = augmenting(
      AugMix({.num_chains = 1, .chain_depth = 1, .factor = f, .all_ops = false, .seed = 3}));
  std::map<std::string, int> counts;
  for (int i = 0; i < 400; ++i) {
    const Vector y = augmented(model, x);
    const bool same = distance(y, x.to_vector()) < 2e-4;
    const auto found = same ? Weighed{"none"} : weighed(x.to_vector(), y, known);
    ++counts[found ? found->by : "Solarization"];
  }
  expect_equally_often(counts, 8, 400);
}

// As in Keras on JAX, masks of integers become floats; on TensorFlow they are an error.
TEST(AugMix, MixesMasksAndLeavesBoxes) {
  const AugMix layer({.factor = fixed_factor,
                      .interpolation = "nearest",
                      .seed = 3,
                      .bounding_box_format = "xyxy"});
  const Tensor x = varied_image();
  int moved = 0;
  for (int i = 0; i < 12; ++i) {
    const Tree<Tensor> y = with_boxes(layer, x);
    EXPECT_EQ(y["segmentation_masks"].leaf().dtype(), f32);
    moved += distance(y["segmentation_masks"].leaf().to_vector(), x.to_vector()) > 1e-2 ? 1 : 0;
    EXPECT_EQ(y["bounding_boxes"]["boxes"].leaf().to_vector(), (Vector{1, 1, 3, 4, 0, 2, 5, 6}));
  }
  EXPECT_GT(moved, 3);
}

TEST(ImageAugmentation, KeepsNumbersOfLayersApart) {
  for (const LayerPtr& layer :
       std::vector<LayerPtr>{RandAugment({.seed = 1}), AugMix({.seed = 1})}) {
    EXPECT_TRUE(layer->weights().empty());
    EXPECT_EQ(layer->sublayers().size(), 11U);
    // Their own seeds, which Keras has, too, stay as they are.
    const Model model = augmenting(layer);
    augmented(model, varied_image());
    int moved = 0;
    for (const Variable& seed : layer->variables()) moved += seed.value().at(1) == 0 ? 0 : 1;
    EXPECT_EQ(layer->variables().size(), 10U);
    EXPECT_EQ(moved, 1) << layer->class_name();
  }
}

TEST(ImageAugmentation, RefusesOtherArguments) {
  expect_user_error([] { RandAugment({.factor = 1.5}); },
                    {"The `factor` argument should be a number (or a list of two numbers) in the "
                     "range [0, 1]. Received: factor=1.5"});
  expect_user_error([] { AugMix({.factor = -0.1}); }, "in the range [0, 1]");
  expect_user_error([] { RandAugment({.factor = {0.2, 1.5}}); }, "Received: input_number=1.5");
  expect_user_error([] { RandAugment({.value_range = 3}); }, "`value_range`");
  expect_user_error([] { AugMix({.value_range = 3}); }, "`value_range`");
  expect_user_error([] { AugMix({.interpolation = "x"}); }, "Unknown `interpolation` x");
  expect_user_error([] { AugMix({.alpha = 0}); }, "alpha must be positive, got 0");
}

// A file may ask for a program of any size.
TEST(ImageAugmentation, RefusesTooManyChanges) {
  expect_user_error([] { RandAugment({.num_ops = -1}); },
                    "RandAugment: num_ops must be between 0 and 64, got -1");
  expect_user_error([] { RandAugment({.num_ops = int64_t{1} << 40}); }, "between 0 and 64");
  expect_user_error([] { AugMix({.num_chains = -1}); }, "AugMix: num_chains must be");
  expect_user_error([] { AugMix({.chain_depth = 65}); }, "AugMix: chain_depth must be");
  expect_user_error([] { AugMix({.num_chains = 9, .chain_depth = 8}); }, "got 72");
}

}  // namespace
}  // namespace keratin
