#include <gtest/gtest.h>

#include <cmath>

#include "keratin/distribute/multi_gpu_model.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/model/program.h"
#include "keratin/model/saving.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/waves.h"
#include "keratin/train/fit.h"

// Models with layers of images in training, on one device and on replicas.
namespace keratin {
namespace {

using testing::waves;

class ImageTraining : public ::testing::Test {
 protected:
  void SetUp() override {
    set_logical_devices("gpu", 2);
    set_random_seed(3);
  }
  void TearDown() override { set_logical_devices("gpu", 0); }
};

Model compiled(const Symbols& x, const Symbols& images) {
  const Symbols features = Conv2D({.filters = 4, .kernel_size = 3, .activation = "tanh"})(images);
  Model model({.inputs = x, .outputs = Dense({.units = 2})(GlobalAveragePooling2D()(features))});
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
  return model;
}

Model augmented() {
  const auto x = Input({8, 7, 2});
  Symbols y = RandomFlip({.seed = 1})(x);
  y = RandomTranslation({.height_factor = 0.2, .width_factor = 0.2, .seed = 2})(y);
  y = RandomRotation({.factor = 0.1, .fill_mode = "constant", .seed = 3})(y);
  y = RandomZoom({.height_factor = 0.2, .fill_mode = "nearest", .seed = 4})(y);
  y = RandomShear({.x_factor = 0.2, .fill_mode = "wrap", .seed = 5})(y);
  y = RandomPerspective({.scale = 0.3, .seed = 6})(y);
  y = RandomElasticTransform({.scale = 0.5, .value_range = {-1, 1}, .seed = 7})(y);
  return compiled(x, RandomCrop({.height = 6, .width = 5, .seed = 8})(y));
}

// The same numbers for every image, after a layer with weights: its gradient passes through.
Model fixed() {
  const auto x = Input({8, 7, 2});
  Symbols y = Conv2D({.filters = 2, .kernel_size = 1})(x);
  y = RandomTranslation({.height_factor = {0.13, 0.13}, .width_factor = {-0.2, -0.2}})(y);
  y = RandomRotation({.factor = {0.1, 0.1}, .fill_mode = "nearest"})(y);
  y = RandomZoom({.height_factor = {0.2, 0.2}, .fill_mode = "constant"})(y);
  y = CenterCrop({.height = 6, .width = 6})(y);
  return compiled(x, Resizing({.height = 9, .width = 8, .interpolation = "bicubic"})(y));
}

// The model as Keras 3 writes it: its call has `training=True` by default, and the file has that.
Model as_in_keras(const Model& model) {
  std::string json = model.to_json();
  const std::string_view none = R"("kwargs": {})";
  const size_t at = json.find(none);
  EXPECT_NE(at, std::string::npos) << json;
  return model_from_json(json.replace(at, none.size(), R"("kwargs": {"training": true})"));
}

TEST(ImageFiles, AugmentInTrainingOnly) {
  const RandomBrightness brighter({.factor = {0.5, 0.5}, .value_range = {0, 1}});
  const RandomTranslation moved({.height_factor = {0.5, 0.5}, .width_factor = {0.5, 0.5}});
  for (const LayerPtr& layer :
       {LayerPtr(brighter), LayerPtr(moved), LayerPtr(Pipeline({.layers = {brighter, moved}}))}) {
    const auto x = Input({4, 4, 1});
    const Tensor image = waves({2, 4, 4, 1});
    const Model model =
        as_in_keras(Model({.inputs = x, .outputs = layer->call_symbolic({{x}, {}})}));
    EXPECT_EQ(model.predict(image).leaf(), image) << layer->class_name();
    EXPECT_NE(model.predict(image, {.training = true}).leaf(), image) << layer->class_name();
  }
}

double last_loss(Model& model, int64_t epochs) {
  return model
      .fit(waves({12, 8, 7, 2}), waves({12, 2}, 1, 0.3),
           {.batch_size = 4, .epochs = epochs, .verbose = 0, .shuffle = false})
      .history.at("loss")
      .back();
}

TEST_F(ImageTraining, LearnsFromAugmentedImages) {
  Model model = augmented();
  const double first = last_loss(model, 1), later = last_loss(model, 20);
  EXPECT_TRUE(std::isfinite(later));
  EXPECT_LT(later, first);
}

TEST_F(ImageTraining, LearnsOnReplicas) {
  Model parallel = multi_gpu_model(augmented(), {.gpus = 2});
  parallel.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
  const double first = last_loss(parallel, 1), later = last_loss(parallel, 20);
  EXPECT_TRUE(std::isfinite(later));
  EXPECT_LT(later, first);
}

TEST_F(ImageTraining, ReplicasLearnWhatOneDeviceLearns) {
  Model model = fixed();
  const Model given = fixed();
  given.layer()->set_weights(model.layer()->get_weights());
  Model parallel = multi_gpu_model(given, {.gpus = 2});
  parallel.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
  EXPECT_NEAR(last_loss(model, 5), last_loss(parallel, 5), 1e-5);
  const auto ours = model.layer()->get_weights(), theirs = given.layer()->get_weights();
  for (size_t i = 0; i < ours.size(); ++i)
    for (int64_t j = 0; j < ours[i].count(); ++j)
      EXPECT_NEAR(ours[i].at(j), theirs[i].at(j), 1e-5) << i;
}

TEST_F(ImageTraining, CopiesDrawTheirOwnNumbers) {
  const Model model = augmented();
  const Model copy = clone_model(model);
  copy.layer()->set_weights(model.layer()->get_weights());
  const Tensor x = waves({4, 8, 7, 2});
  const auto run = [&](const Model& m) {
    return run_layer(*m.layer(), {{MaskedTensor{x}}, {}}, {.training = true}).outputs.leaf();
  };
  EXPECT_EQ(run(model), run(copy)) << "the seeds are those of the config";
  EXPECT_EQ(copy.layer()->variables().size(), model.layer()->variables().size());
}

}  // namespace
}  // namespace keratin
