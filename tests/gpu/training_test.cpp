#include <cmath>
#include "gpu_testing.h"

#include "keratin/base/text.h"
#include "keratin/keratin.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"
#include "keratin/train/trainer.h"

// Compares training on a GPU, where steps are recorded and run asynchronously, with the CPU.
namespace keratin::testing {
namespace {

using namespace keratin::layers;

class TrainingOnGpu : public OnGpu {};

using MakeModel = std::function<Model()>;

Model perceptron() {
  return Sequential({Dense({.units = 64, .activation = "relu"}),
                     Dense({.units = 48, .activation = "relu"}), Dense({.units = 10})});
}

Model convnet() {
  return Sequential({Conv2D({.filters = 8, .kernel_size = {3, 3}, .activation = "relu"}),
                     MaxPooling2D({.pool_size = {2, 2}}), BatchNormalization(), Flatten(),
                     Dense({.units = 10})});
}

Batch batch_of(const Shape& shape, uint64_t seed) {
  const Tensor x = random_tensor({DType::f32, shape}, -1, 1, seed);
  const Tensor y = random_tensor({DType::i32, {shape[0]}}, 0, 9, seed + 1);
  return {.x = x, .y = y};
}

struct Learnt {
  std::vector<double> losses;
  std::vector<Tensor> weights;
};

// Trains on a backend. `reads` chooses the steps after which the loss is read.
Learnt learn(const MakeModel& make, const std::vector<Batch>& batches, const std::string& backend,
             const std::function<bool(size_t)>& reads) {
  set_random_seed(11);
  Model model = make();
  model.compile({.optimizer = Adam({.learning_rate = 1e-3}),
                 .loss = losses::SparseCategoricalCrossentropy{.from_logits = true},
                 .metrics = {"accuracy"},
                 .engine = {.backend = backend, .tf32 = false}});
  Learnt learnt;
  for (size_t i = 0; i < batches.size(); ++i) {
    model.trainer().train(batches[i]);
    if (reads(i)) learnt.losses.push_back(model.trainer().logs().at("loss"));
  }
  learnt.losses.push_back(model.trainer().logs().at("loss"));
  for (const Tensor& weight : model.get_weights()) learnt.weights.push_back(weight.clone());
  return learnt;
}

void expect_same_learning(const MakeModel& make, const std::vector<Batch>& batches) {
  const Learnt expected = learn(make, batches, "cpu", [](size_t) { return true; });
  const auto sometimes = [](size_t i) { return i % 3 == 0; };
  const Learnt always = learn(make, batches, "cuda", [](size_t) { return true; });
  const Learnt rarely = learn(make, batches, "cuda", sometimes);
  ASSERT_EQ(expected.losses.size(), always.losses.size());
  for (size_t i = 0; i < expected.losses.size(); ++i)
    EXPECT_NEAR(always.losses[i], expected.losses[i], 1e-4 * (1 + expected.losses[i])) << i;
  EXPECT_EQ(rarely.losses.back(), always.losses.back());
  for (size_t i = 0; i < expected.weights.size(); ++i) {
    expect_close(always.weights[i], expected.weights[i], 2e-4, text("weight ", i));
    EXPECT_EQ(rarely.weights[i], always.weights[i])
        << "reading the loss changes the bits of weight " << i;
  }
}

TEST_F(TrainingOnGpu, GivesTheSameBitsWithoutReadingLosses) {
  std::vector<Batch> batches;
  for (uint64_t i = 0; i < 20; ++i) batches.push_back(batch_of({32, 20}, 2 * i));
  expect_same_learning(perceptron, batches);
}

TEST_F(TrainingOnGpu, TrainsAConvnetAsOnTheCpu) {
  std::vector<Batch> batches;
  for (uint64_t i = 0; i < 12; ++i) batches.push_back(batch_of({16, 10, 10, 3}, 2 * i));
  expect_same_learning(convnet, batches);
}

// Each batch size has its own program; all share the weights.
TEST_F(TrainingOnGpu, AlternatesPrograms) {
  std::vector<Batch> batches;
  for (uint64_t i = 0; i < 24; ++i) batches.push_back(batch_of({i % 3 == 2 ? 7 : 32, 20}, 2 * i));
  expect_same_learning(perceptron, batches);
}

TEST_F(TrainingOnGpu, EvaluatesWithTheNewWeights) {
  set_random_seed(3);
  Model model = perceptron();
  model.compile({.optimizer = SGD({.learning_rate = 0.1}),
                 .loss = losses::SparseCategoricalCrossentropy{.from_logits = true},
                 .engine = {.backend = "cuda", .tf32 = false}});
  Trainer& trainer = model.trainer();
  const Batch batch = batch_of({32, 20}, 5);
  double last = 1e9;
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 5; ++k) trainer.train(batch);
    trainer.reset_metrics();
    trainer.test(batch);
    const double loss = trainer.logs().at("loss");
    trainer.reset_metrics();
    EXPECT_LT(loss, last);
    last = loss;
  }
}

// Weights, and values prepared from them, stay on the GPU between calls until they are changed on
// another device.
void expect_newest_weights(const MakeModel& make, const Shape& shape) {
  set_random_seed(4);
  Model model = make();
  const EngineOptions gpu{.backend = "cuda", .tf32 = false};
  model.compile({.optimizer = SGD({.learning_rate = 0.1}),
                 .loss = losses::SparseCategoricalCrossentropy{.from_logits = true},
                 .engine = gpu});
  const Batch batch = batch_of(shape, 5);
  Tensor last;
  const auto expect_news = [&](const std::string& after) {
    const Tensor there = model.predict_on_batch(batch.x, {.engine = gpu}).leaf().clone();
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(there, model.predict_on_batch(batch.x, {.engine = gpu}).leaf()) << after;
    const Tensor here = model.predict_on_batch(batch.x).leaf();
    expect_close(there, here, 1e-4, after);
    if (last.defined()) {
      EXPECT_NE(there, last) << after;
    }
    last = there;
  };
  expect_news("at first");
  for (int i = 0; i < 5; ++i) model.trainer().train(batch);
  expect_news("after training on the GPU");
  model.trainer().train(batch);
  expect_news("after one more step");
  std::vector<Tensor> weights = model.get_weights();
  for (Tensor& w : weights) w = random_tensor({w.dtype(), w.shape()}, 0.01, 0.3, 1);
  model.set_weights(weights);
  expect_news("after weights were set");
}

TEST_F(TrainingOnGpu, PredictsWithTheNewestWeights) { expect_newest_weights(perceptron, {32, 20}); }

TEST_F(TrainingOnGpu, PredictsWithTheNewestFilters) {
  const auto normalised = []() -> Model {
    return Sequential({Conv2D({.filters = 8, .kernel_size = {3, 3}}), BatchNormalization(), ReLU(),
                       Conv2D({.filters = 12, .kernel_size = {1, 1}, .activation = "relu"}),
                       Flatten(), Dense({.units = 10})});
  };
  expect_newest_weights(normalised, {8, 10, 10, 3});
}

TEST_F(TrainingOnGpu, ReportsAnIndexOutOfRangeOnce) {
  Model model =
      Sequential({Embedding({.input_dim = 10, .output_dim = 4}), Flatten(), Dense({.units = 3})});
  model.compile({.optimizer = SGD({.learning_rate = 0.1}),
                 .loss = losses::SparseCategoricalCrossentropy{.from_logits = true},
                 .engine = {.backend = "cuda", .tf32 = false}});
  Trainer& trainer = model.trainer();
  Tensor x = Tensor::zeros(DType::i32, {4, 5});
  const Tensor y = Tensor::zeros(DType::i32, {4});
  for (int i = 0; i < 4; ++i) trainer.train({.x = x, .y = y});
  trainer.logs();
  Tensor bad = x.clone();
  bad.set(7, 10);
  expect_user_error(
      [&] {
        trainer.train({.x = bad, .y = y});
        trainer.logs();
      },
      "10");
  trainer.train({.x = x, .y = y});
  EXPECT_TRUE(std::isfinite(trainer.logs().at("loss")));
  expect_user_error(
      [&] {
        trainer.train({.x = bad, .y = y});
        for (int i = 0; i < 50; ++i) trainer.train({.x = x, .y = y});
        trainer.logs();
      },
      "10");
}

}  // namespace
}  // namespace keratin::testing
