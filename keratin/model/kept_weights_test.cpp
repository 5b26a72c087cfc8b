#include <gtest/gtest.h>

#include "keratin/files/scratch_testing.h"
#include "keratin/keratin.h"
#include "keratin/plan/value_store.h"
#include "keratin/testing/check_op.h"

// What programs keep that follows from a model's weights.
namespace keratin {
namespace {

using testing::expect_close;
using testing::random_tensor;

const Shape image = {12, 12, 3};

// Convolutions of all kinds and a Dense, each with a normalisation behind it.
Model network() {
  const auto x = Input(image);
  auto y = ZeroPadding2D({.padding = {{0, 1}, {0, 1}}})(x);
  y = Conv2D({.filters = 24, .kernel_size = 3, .strides = 2, .use_bias = false})(y);
  y = ReLU({.max_value = 6})(BatchNormalization()(y));
  const auto shortcut = y;
  y = DepthwiseConv2D({.kernel_size = 3, .padding = "same"})(y);
  y = ReLU({.max_value = 6})(BatchNormalization({.scale = false})(y));
  y = BatchNormalization({.center = false})(Conv2D({.filters = 24, .kernel_size = 1})(y));
  y = Add()({y, shortcut});
  y = ReLU()(BatchNormalization()(y));
  y = BatchNormalization()(Dense({.units = 40})(Flatten()(y)));
  Model model({.inputs = x, .outputs = Dense({.units = 5, .activation = "softmax"})(y)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  return model;
}

// Other statistics than 0 and 1.
void randomize(Model& model, uint64_t seed) {
  for (const Variable& weight : model.weights()) {
    const bool variance = weight.name() == "moving_variance";
    weight.assign(random_tensor({DType::f32, weight.shape()}, variance ? 0.5 : -0.5,
                                variance ? 2 : 0.5, seed++));
  }
}

void expect_reference(const Model& model, int64_t batch, const char* when) {
  Dims dims = image.dims();
  dims.insert(dims.begin(), batch);
  const Tensor x = random_tensor({DType::f32, dims}, -1, 1, 1);
  const PredictOptions plain{.batch_size = batch, .engine = {.backend = "reference"}};
  const Tensor expected = model.predict(x, plain);
  for (const int threads : {1, 2}) {
    const PredictOptions options{.batch_size = batch, .engine = {.threads = threads}};
    const Tensor first = model.predict(x, options);
    expect_close(first, expected, 2e-6, when);
    EXPECT_EQ(model.predict(x, options).leaf(), first) << when;
  }
}

TEST(KeptWeights, FollowTheWeights) {
  Model model = network();
  expect_reference(model, 3, "at first");
  randomize(model, 10);
  expect_reference(model, 3, "assigned");
  expect_reference(model, 1, "assigned, another batch");
  model.fit(random_tensor({DType::f32, {8, 12, 12, 3}}, -1, 1, 2),
            random_tensor({DType::f32, {8, 5}}, 0, 1, 3), {.batch_size = 4, .verbose = 0});
  expect_reference(model, 3, "trained");
  const auto path = files::scratch("kept.weights.h5");
  model.save_weights(path);
  randomize(model, 50);
  expect_reference(model, 3, "assigned again");
  model.load_weights(path);
  expect_reference(model, 3, "loaded");
  model.weights()[0].value().data<float>()[0] = 3;
  expect_reference(model, 3, "written in place");
}

TEST(KeptWeights, LeaveTrainingAlone) {
  Model model = network();
  const Tensor x = random_tensor({DType::f32, {4, 12, 12, 3}}, -1, 1, 2),
               y = random_tensor({DType::f32, {4, 5}}, 0, 1, 3);
  Model copy = clone_model(model);
  copy.compile({.optimizer = "sgd", .loss = "mse"});
  copy.set_weights(model.get_weights());
  for (int step = 0; step < 3; ++step) {
    model.predict(x);
    EXPECT_EQ(model.train_on_batch(x, y), copy.train_on_batch(x, y)) << step;
  }
}

TEST(KeptWeights, OfRecurrentLayersFollowTheWeights) {
  for (const int64_t units : {5, 32, 70})
    for (const bool reset_after : {false, true}) {
      const auto in = Input({7, 6});
      const auto sequence = LSTM({.units = units, .return_sequences = true})(in);
      Model model(
          {.inputs = in, .outputs = GRU({.units = units, .reset_after = reset_after})(sequence)});
      for (const uint64_t seed : {1, 100}) {
        randomize(model, seed);
        for (const int64_t batch : {1, 9}) {
          const Tensor x = random_tensor({DType::f32, {batch, 7, 6}}, -1, 1, 1);
          const Tensor expected = model.predict(x, {.engine = {.backend = "reference"}});
          for (int call = 0; call < 2; ++call)
            expect_close(model.predict(x), expected, 2e-6, "recurrent");
        }
      }
    }
}

// Each weight is kept once, for any batch and number of threads.
TEST(KeptWeights, TakeATenthMoreThanTheWeights) {
  const size_t before = stored_value_bytes();
  {
    const auto x = Input({96});
    auto y = Dense({.units = 256, .activation = "relu"})(x);
    y = BatchNormalization()(Dense({.units = 512})(y));
    const Model model({.inputs = x, .outputs = Dense({.units = 200})(y)});
    size_t weights = 0;
    for (const Variable& weight : model.weights()) weights += weight.value().bytes();
    for (const int64_t batch : {1, 7, 40, 200, 1000})
      for (const int threads : {1, 2}) {
        model.predict(random_tensor({DType::f32, {batch, 96}}, -1, 1, 1),
                      {.batch_size = batch, .engine = {.threads = threads}});
        EXPECT_LE(stored_value_bytes() - before, weights + weights / 10) << batch;
      }
    EXPECT_GE(stored_value_bytes() - before, weights * 9 / 10);
  }
  EXPECT_EQ(stored_value_bytes(), before);
}

}  // namespace
}  // namespace keratin
