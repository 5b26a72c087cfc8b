#include <gtest/gtest.h>

#include <csignal>

#include "keratin/base/warning.h"
#include "keratin/keratin.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

// y = 2a - b + 1, without noise.
Batch line(int64_t rows) {
  Tensor x(DType::f32, {rows, 2}), y(DType::f32, {rows, 1});
  for (int64_t i = 0; i < rows; ++i) {
    const double a = static_cast<double>(i * 7 % 11) / 11, b = static_cast<double>(i * 5 % 13) / 13;
    x.set(2 * i, a);
    x.set(2 * i + 1, b);
    y.set(i, 2 * a - b + 1);
  }
  return {x, y};
}

Model one_dense() {
  const SymbolicTensor in = Input({2});
  return Model({.inputs = in, .outputs = Dense({.units = 1})(in)});
}

TEST(Fit, LearnsALine) {
  set_random_seed(1);
  Model model = one_dense();
  model.compile({.optimizer = SGD({.learning_rate = 0.5}), .loss = "mse", .metrics = {"mse"}});
  const Batch data = line(100);
  const History history = model.fit(data.x, data.y, {.epochs = 60, .verbose = 0});
  EXPECT_EQ(history["loss"].size(), 60u);
  EXPECT_LT(history["loss"].back(), 1e-6);
  EXPECT_NEAR(history["mse"].back(), history["loss"].back(), 1e-9);
  const std::vector<Tensor> weights = model.get_weights();
  EXPECT_NEAR(weights[0].at(0), 2, 1e-2);
  EXPECT_NEAR(weights[0].at(1), -1, 1e-2);
  EXPECT_NEAR(weights[1].at(0), 1, 1e-2);
  EXPECT_LT(model.evaluate(data.x, data.y, {.verbose = 0}).at("loss"), 1e-6);
}

// Keras resets the metrics before each of these batches.
TEST(Fit, OnBatchReturnsTheMetricsOfThatBatch) {
  Model model = one_dense();
  model.compile({.optimizer = SGD({.learning_rate = 0.0}), .loss = "mse", .metrics = {"mae"}});
  const Batch small = line(3), large = line(50);
  const auto test = [&](const Batch& batch) {
    return model.evaluate(batch.x, batch.y, {.batch_size = 50, .verbose = 0});
  };
  const Logs expected = test(small), other = test(large);
  EXPECT_EQ(model.train_on_batch(large.x, large.y), other);
  EXPECT_EQ(model.train_on_batch(small.x, small.y), expected);
  EXPECT_EQ(model.test_on_batch(large.x, large.y), other);
  EXPECT_EQ(model.test_on_batch(small.x, small.y), expected);
  EXPECT_EQ(model.get_metrics_result(), expected);
}

// Half precision learns too; with mixed_float16 the loss is scaled by default.
TEST(Fit, LearnsInMixedPrecision) {
  for (const char* policy : {"mixed_float16", "mixed_bfloat16", "float64"}) {
    set_random_seed(1);
    const SymbolicTensor in = Input({2});
    Model model({.inputs = in, .outputs = Dense({.units = 1}, LayerOptions{.dtype = policy})(in)});
    model.compile({.optimizer = SGD({.learning_rate = 0.5}), .loss = "mse"});
    const Batch data = line(96);
    const History history = model.fit(data.x, data.y, {.epochs = 40, .verbose = 0});
    EXPECT_LT(history["loss"].back(), 1e-3) << policy;
    EXPECT_EQ(model.weights()[0].dtype() == DType::f64, std::string(policy) == "float64");
    EXPECT_EQ(model.optimizer().class_name() == "LossScaleOptimizer",
              std::string(policy) == "mixed_float16");
    // The first scale is so large that gradients may overflow: such steps are skipped.
    const int64_t skipped = 120 - model.optimizer().iterations();
    EXPECT_TRUE(skipped == 0 || (std::string(policy) == "mixed_float16" && skipped < 5)) << skipped;
  }
}

TEST(Fit, StopsCleanlyAtAnInterrupt) {
  Model model = one_dense();
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
  const Batch data = line(64);
  int64_t steps = 0;
  const auto interrupt =
      LambdaCallback({.on_train_batch_end = [&](Training&, int64_t, const Logs&) {
        if (++steps == 3) std::raise(SIGINT);
      }});
  const History history = model.fit(
      data.x, data.y, {.batch_size = 8, .epochs = 5, .verbose = 0, .callbacks = {interrupt}});
  EXPECT_TRUE(history.interrupted);
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(history.epoch.size(), 1u);
  EXPECT_EQ(model.optimizer().iterations(), 3);
  // Training can continue.
  EXPECT_FALSE(model.fit(data.x, data.y, {.verbose = 0}).interrupted);
}

TEST(Fit, LearnsFromAnEndlessDataset) {
  set_random_seed(2);
  Model model = one_dense();
  model.compile({.optimizer = SGD({.learning_rate = 0.3}), .loss = "mse"});
  const Batch data = line(50);
  const Dataset endless =
      Dataset::from_tensors(data.x, data.y).shuffle().batch(10).repeat().prefetch();
  const History history = model.fit(
      endless, {.epochs = 3, .verbose = 0, .validation_data = data, .steps_per_epoch = 7});
  EXPECT_EQ(model.optimizer().iterations(), 21);
  EXPECT_EQ(history["val_loss"].size(), 3u);
}

// A batch that was taken from a generator is gone, so fit takes no batch that it does not use.
TEST(Fit, UsesEveryBatchOfAGenerator) {
  Model model = one_dense();
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
  const Batch data = line(4);
  int given = 0;
  const Dataset once = Dataset::from_generator([&] {
    return [&]() -> std::optional<Batch> {
      if (given == 5) return std::nullopt;
      ++given;
      return data;
    };
  });
  model.fit(once, {.verbose = 0});
  EXPECT_EQ(model.optimizer().iterations(), 5);
}

// Gives rows 0 … count-1 of a line, in batches of four.
Dataset::Generator batches_of(int64_t count) {
  return [data = line(4), left = count]() mutable -> std::optional<Batch> {
    if (left-- <= 0) return std::nullopt;
    return data;
  };
}

TEST(Fit, TakesOnePassOverAGenerator) {
  Model model = one_dense();
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
  std::vector<std::string> warnings;
  const auto before =
      set_warning_handler([&](const std::string& warning) { warnings.push_back(warning); });
  // An epoch continues where the last one ended.
  EXPECT_EQ(
      model.fit(batches_of(4), {.epochs = 2, .verbose = 0, .steps_per_epoch = 2}).epoch.size(), 2u);
  EXPECT_EQ(model.optimizer().iterations(), 4);
  EXPECT_TRUE(warnings.empty());
  // The generator ends in the middle of an epoch, and before one.
  EXPECT_EQ(
      model.fit(batches_of(3), {.epochs = 9, .verbose = 0, .steps_per_epoch = 2}).epoch.size(), 2u);
  EXPECT_EQ(model.fit(batches_of(3), {.epochs = 2, .verbose = 0}).epoch.size(), 1u);
  EXPECT_EQ(model.optimizer().iterations(), 10);
  // Validation continues in its own generator.
  const History history = model.fit(batches_of(6), {.epochs = 3,
                                                    .verbose = 0,
                                                    .validation_data = batches_of(3),
                                                    .steps_per_epoch = 2,
                                                    .validation_steps = 2});
  set_warning_handler(before);
  EXPECT_EQ(history["loss"].size(), 3u);
  EXPECT_EQ(history["val_loss"].size(), 2u);
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_NE(warnings[0].find("ran out of data"), std::string::npos);
  EXPECT_NE(warnings[1].find("ran out of data"), std::string::npos);
  EXPECT_NE(warnings[2].find("validation data ran out"), std::string::npos);
}

TEST(Fit, TakesDataInAnyForm) {
  Model model = one_dense();
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
  const Batch data = line(4);
  const Dataset dataset = Dataset::from_tensors(data.x, data.y).batch(2);
  const double loss = model.evaluate(data.x, data.y, {.verbose = 0}).at("loss");
  EXPECT_NEAR(model.evaluate(data, {.verbose = 0}).at("loss"), loss, 1e-6);
  EXPECT_NEAR(model.evaluate(dataset, {.verbose = 0}).at("loss"), loss, 1e-6);
  EXPECT_NEAR(model.evaluate(batches_of(3), {.verbose = 0}).at("loss"), loss, 1e-6);
  for (const Data& validation : {Data(data), Data(dataset), Data(batches_of(1))}) {
    const History history = model.fit(data, {.verbose = 0, .validation_data = validation});
    EXPECT_NEAR(history["val_loss"][0], loss, 1e-6);
  }
  const Tensor wanted = model.predict(data.x);
  const Tensor got = model.predict(dataset), twice = model.predict(batches_of(2));
  for (int64_t i = 0; i < wanted.count(); ++i) EXPECT_NEAR(got.at(i), wanted.at(i), 1e-6) << i;
  EXPECT_EQ(twice.shape(), Shape({8, 1}));
  EXPECT_EQ(Tensor(model.predict(batches_of(9), {.steps = 3})).shape(), Shape({12, 1}));
  EXPECT_EQ(Tensor(model.predict(data.x, {.batch_size = 1, .steps = 3})).shape(), Shape({3, 1}));
}

TEST(Fit, RefusesEmptyAndUnsuitableGenerators) {
  Model model = one_dense();
  model.compile({.loss = "mse"});
  const auto refuses = [&](const FitOptions& options, const std::string& message) {
    testing::expect_user_error([&] { model.fit(batches_of(2), options); }, message);
  };
  refuses({.verbose = 0, .validation_split = 0.5}, "`validation_split`");
  refuses({.verbose = 0, .sample_weight = Tensor::zeros(DType::f32, {4})}, "`sample_weight`");
  refuses({.verbose = 0, .validation_data = batches_of(0)}, "validation data are empty");
  const auto nothing = batches_of(0);
  testing::expect_user_error([&] { model.fit(nothing, {.verbose = 0}); },
                             "fit: the data are empty");
  testing::expect_user_error([&] { model.evaluate(nothing, {.verbose = 0}); },
                             "evaluate: the data are empty");
  testing::expect_user_error([&] { model.predict(nothing); }, "predict: the data are empty");
  testing::expect_user_error([&] { model.predict(line(2), {.steps = 0}); }, "`steps`");
  testing::expect_user_error([&] { model.fit(Dataset::Generator(), {.verbose = 0}); },
                             "an empty function");
  const Tensor weight = Tensor::zeros(DType::f32, {4});
  testing::expect_user_error(
      [&] { model.evaluate(batches_of(1), {.verbose = 0, .sample_weight = weight}); },
      "`sample_weight`");
}

TEST(Fit, CallsBatchCallbacksOnlyForBatches) {
  Model model = one_dense();
  model.compile({.loss = "mse", .steps_per_execution = 2});
  const Batch data = line(6);
  std::vector<int64_t> begun, ended;
  const auto count = LambdaCallback(
      {.on_train_batch_begin = [&](Training&, int64_t step) { begun.push_back(step); },
       .on_train_batch_end = [&](Training&, int64_t step, const Logs&) { ended.push_back(step); }});
  model.fit(data.x, data.y, {.batch_size = 2, .epochs = 2, .verbose = 0, .callbacks = {count}});
  EXPECT_EQ(begun, (std::vector<int64_t>{0, 2, 0, 2}));
  EXPECT_EQ(ended, (std::vector<int64_t>{1, 2, 1, 2}));
}

TEST(Fit, ValidatesOnTheLastRows) {
  Model model = one_dense();
  model.compile({.optimizer = SGD({.learning_rate = 0.0}), .loss = "mse"});
  const Batch data = line(40);
  const History history = model.fit(data.x, data.y, {.verbose = 0, .validation_split = 0.25});
  Batch tail = data.map([](const Tensor& t) {
    const int64_t width = t.count() / 40;
    Tensor rows(t.dtype(), {10, width});
    for (int64_t i = 0; i < rows.count(); ++i) rows.set(i, t.at(30 * width + i));
    return rows;
  });
  EXPECT_NEAR(history["val_loss"][0], model.evaluate(tail.x, tail.y, {.verbose = 0}).at("loss"),
              1e-6);
}

// Each error names what is wrong, and the model is not changed.
TEST(Fit, RefusesUnsuitableDataAndOptions) {
  Model model = one_dense();
  const Batch data = line(8);
  const auto before = model.get_weights();
  testing::expect_user_error([&] { model.fit(data.x, data.y); }, {"compile()"});
  testing::expect_user_error([&] { model.compile({.loss = "no_such_loss"}); }, {"no_such_loss"});
  testing::expect_user_error([&] { model.compile({.optimizer = "adamant"}); }, {"adamant"});

  model.compile({.loss = std::map<std::string, Loss>{{"other", "mse"}}});
  testing::expect_user_error([&] { model.fit(data.x, data.y, {.verbose = 0}); },
                             {"'other' is no output of the model"});
  model.compile({.loss = PerOutput<Loss>{"mse", "mae"}});
  testing::expect_user_error([&] { model.fit(data.x, data.y, {.verbose = 0}); },
                             {"expected one for each of the 1 outputs", "got 2"});
  model.compile({});
  testing::expect_user_error([&] { model.fit(data.x, data.y, {.verbose = 0}); },
                             {"No loss to compute"});

  model.compile({.loss = "mse"});
  const auto refuses = [&](const Tree<Tensor>& x, const Tree<Tensor>& y, const FitOptions& options,
                           std::initializer_list<std::string> words) {
    testing::expect_user_error([&] { model.fit(x, y, options); }, words);
    EXPECT_EQ(model.get_weights(), before);
  };
  const FitOptions quiet{.verbose = 0};
  refuses(data.x, {}, quiet, {"no target `y`", "'mse'"});
  refuses(data.x, line(7).y, quiet, {"cardinality", "8", "7"});
  refuses(Tensor::zeros(DType::f32, {8, 3}), data.y, quiet, {"(None, 2)", "(8, 3)"});
  refuses(data.x, {data.y, data.y}, quiet, {"different structures"});
  refuses(Tensor::zeros(DType::f32, {0, 2}), Tensor::zeros(DType::f32, {0, 1}), quiet, {"empty"});
  refuses(data.x, data.y, {.batch_size = 0, .verbose = 0}, {"`batch_size`", "got 0"});
  refuses(data.x, data.y, {.verbose = 0, .validation_split = 1.5}, {"`validation_split`", "1.5"});
  refuses(data.x, data.y, {.verbose = 0, .callbacks = {nullptr}}, {"callback"});
}

}  // namespace
}  // namespace keratin
