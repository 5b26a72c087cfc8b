#include "keratin/callbacks/callbacks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <regex>

#include "keratin/base/warning.h"
#include "keratin/data/npy.h"
#include "keratin/keratin.h"

namespace keratin {
namespace {

Model one_dense() {
  const SymbolicTensor in = Input({2});
  Model model({.inputs = in, .outputs = Dense({.units = 1, .kernel_initializer = "ones"})(in)});
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
  return model;
}

const Tensor x = Tensor::of<double>(DType::f32, {4, 2}, {1, 0, 0, 1, 1, 1, 2, -1});
const Tensor y = Tensor::of<double>(DType::f32, {4, 1}, {2, -1, 1, 5});

std::filesystem::path scratch(const std::string& name) {
  const auto path = std::filesystem::path(::testing::TempDir()) / name;
  std::filesystem::remove_all(path);
  return path;
}

// A callback that sets a number in the logs, for the callbacks after it.
CallbackPtr pretend(const std::string& name, std::vector<double> values) {
  return LambdaCallback({.on_epoch_end = [=](Training&, int64_t epoch, Logs& logs) {
    logs[name] = values.at(static_cast<size_t>(epoch));
  }});
}

TEST(EarlyStopping, WaitsForPatienceAndRestoresTheBestWeights) {
  Model model = one_dense();
  std::vector<Tensor> best;
  const auto keep = LambdaCallback({.on_epoch_end = [&](Training& t, int64_t epoch, Logs&) {
    if (epoch == 2) best = t.model()->get_weights();
  }});
  const History history =
      model.fit(x, y,
                {.epochs = 10,
                 .verbose = 0,
                 .callbacks = {pretend("val_loss", {3, 2, 1, 1.5, 1, 1, 1, 1, 1, 1}), keep,
                               EarlyStopping({.patience = 2, .restore_best_weights = true})}});
  EXPECT_EQ(history.epoch.size(), 5u);
  EXPECT_EQ(model.get_weights(), best);
}

TEST(EarlyStopping, IgnoresImprovementsBelowMinDelta) {
  Model model = one_dense();
  const History history = model.fit(
      x, y,
      {.epochs = 9,
       .verbose = 0,
       .callbacks = {
           pretend("score", {1, 1.05, 1.5, 1.55, 1.6, 1.6, 9, 9, 9}),
           EarlyStopping({.monitor = "score", .min_delta = 0.1, .patience = 3, .mode = "max"})}});
  EXPECT_EQ(history.epoch.size(), 6u);
}

TEST(EarlyStopping, RefusesUnknownModesAndWarnsOfMissingMetrics) {
  Model model = one_dense();
  EXPECT_THROW(EarlyStopping({.mode = "most"}), UserError);
  const FitOptions unknown{
      .epochs = 2,
      .verbose = 0,
      .callbacks = {pretend("score", {1, 2}), EarlyStopping({.monitor = "score"})}};
  EXPECT_THROW(model.fit(x, y, unknown), UserError);
  std::string warning;
  const auto before = set_warning_handler([&](const std::string& message) { warning = message; });
  model.fit(x, y, {.verbose = 0, .callbacks = {EarlyStopping()}});
  set_warning_handler(before);
  EXPECT_EQ(warning,
            "Early stopping conditioned on metric `val_loss` which is not available. Available "
            "metrics are: loss");
}

TEST(TerminateOnNaN, EndsTrainingAtTheBatch) {
  Model model = one_dense();
  const Tensor bad = Tensor::full(DType::f32, {4, 1}, NAN);
  int64_t steps = 0;
  const auto count =
      LambdaCallback({.on_train_batch_end = [&](Training&, int64_t, const Logs&) { ++steps; }});
  model.fit(x, bad,
            {.batch_size = 1, .epochs = 3, .verbose = 0, .callbacks = {TerminateOnNaN(), count}});
  EXPECT_EQ(steps, 1);
}

TEST(ReduceLROnPlateau, LowersTheRate) {
  Model model = one_dense();
  const History history = model.fit(
      x, y,
      {.epochs = 8,
       .verbose = 0,
       .callbacks = {
           pretend("val_loss", {1, 1, 1, 1, 1, 1, 1, 1}),
           ReduceLROnPlateau({.factor = 0.5, .patience = 2, .cooldown = 1, .min_lr = 0.03})}});
  const std::vector<double> wanted = {0.1, 0.1, 0.1, 0.05, 0.05, 0.03, 0.03, 0.03};
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(history["learning_rate"][i], wanted[i], 1e-7) << i;
  EXPECT_THROW(ReduceLROnPlateau({.factor = 1}), UserError);
}

TEST(LearningRateScheduler, SetsTheRateOfEachEpoch) {
  Model model = one_dense();
  const History history =
      model.fit(x, y,
                {.epochs = 3,
                 .verbose = 0,
                 .callbacks = {LearningRateScheduler(
                     [](int64_t epoch, double rate) { return epoch == 0 ? rate : rate / 2; })}});
  EXPECT_NEAR(history["learning_rate"][2], 0.025, 1e-7);
}

TEST(CSVLogger, WritesALinePerEpoch) {
  const auto path = scratch("log.csv");
  Model model = one_dense();
  const History history =
      model.fit(x, y, {.epochs = 2, .verbose = 0, .callbacks = {CSVLogger({.filename = path})}});
  model.fit(x, y, {.verbose = 0, .callbacks = {CSVLogger({.filename = path, .append = true})}});
  std::ifstream file(path);
  std::string line;
  std::vector<std::string> lines;
  while (std::getline(file, line)) lines.push_back(line);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "epoch,loss,val_loss\r");
  EXPECT_TRUE(lines[2].starts_with("1,") && lines[2].ends_with(",NA\r"));
  EXPECT_EQ(std::stod(lines[1].substr(2)), history["loss"][0]);
}

TEST(History, CanBeReadByCallbacks) {
  Model model = one_dense();
  const auto watched = std::make_shared<History>();
  std::vector<size_t> lengths;
  const auto look = LambdaCallback({.on_epoch_end = [&](Training&, int64_t, Logs&) {
    lengths.push_back((*watched)["loss"].size());
  }});
  const History history =
      model.fit(x, y, {.epochs = 3, .verbose = 0, .callbacks = {watched, look}});
  EXPECT_EQ(lengths, (std::vector<size_t>{1, 2, 3}));
  EXPECT_EQ(history.history, watched->history);
  EXPECT_EQ(history.epoch, watched->epoch);
  EXPECT_THROW(history["no_such_metric"], UserError);
}

// The output of a training run, with times replaced.
std::string printed(const std::function<void()>& run) {
  ::testing::internal::CaptureStdout();
  run();
  return std::regex_replace(::testing::internal::GetCapturedStdout(),
                            std::regex("[0-9]+(ms|us|s)(/step|/epoch)?"), "TIME");
}

TEST(ProgbarLogger, ReplacesTheBarOfFit) {
  const auto text_of = [](const std::vector<CallbackPtr>& callbacks, int verbose) {
    Model model = one_dense();
    return printed([&] {
      model.fit(x, y,
                {.batch_size = 2,
                 .epochs = 2,
                 .verbose = verbose,
                 .callbacks = callbacks,
                 .validation_data = Batch{x, y},
                 .shuffle = false});
      model.evaluate(x, y, {.batch_size = 2, .verbose = verbose, .callbacks = callbacks});
    });
  };
  for (const int verbose : {0, 1, 2}) {
    const std::string wanted = text_of({}, verbose);
    EXPECT_EQ(wanted.empty(), verbose == 0);
    EXPECT_EQ(text_of({ProgbarLogger()}, verbose), wanted) << verbose;
  }
}

TEST(SwapEMAWeights, EvaluatesWithAveragesAndTrainsWithWeights) {
  const SymbolicTensor in = Input({2});
  Model model({.inputs = in, .outputs = Dense({.units = 1})(in)});
  model.compile({.optimizer = SGD({.learning_rate = 0.1}, {.use_ema = true, .ema_momentum = 0.5}),
                 .loss = "mse"});
  Tensor weights, mean;
  const auto look = [&](Training& t, int64_t, Logs&) {
    weights = t.optimizer().trained()[0].value().clone();
    mean = t.optimizer().averages()[0].value().clone();
  };
  model.fit(x, y,
            {.batch_size = 1,
             .epochs = 2,
             .verbose = 0,
             .callbacks = {LambdaCallback({.on_epoch_end = look}), SwapEMAWeights(true)}});
  EXPECT_FALSE(weights == mean);
  EXPECT_EQ(model.get_weights()[0], mean);
  // Without swap_on_epoch it swaps for the validation only.
  model.fit(x, y,
            {.batch_size = 1,
             .verbose = 0,
             .callbacks = {LambdaCallback({.on_epoch_end = look}), SwapEMAWeights()},
             .validation_data = Batch{x, y}});
  EXPECT_FALSE(weights == mean);
  EXPECT_EQ(model.get_weights()[0], mean);
  Model plain = one_dense();
  EXPECT_THROW(plain.fit(x, y, {.verbose = 0, .callbacks = {SwapEMAWeights()}}), UserError);
}

TEST(ModelCheckpoint, SavesTheBestModel) {
  for (const std::string suffix : {".keras", ".weights.h5", ".npz", ".safetensors"}) {
    SCOPED_TRACE(suffix);
    const auto folder = scratch("checkpoints" + suffix);
    Model model = one_dense();
    model.fit(x, y,
              {.epochs = 4,
               .verbose = 0,
               .callbacks = {
                   pretend("val_loss", {4, 2.5, 3, 1}),
                   ModelCheckpoint({.filepath = (folder / "{epoch:02d}-{val_loss:.1f}") += suffix,
                                    .save_best_only = true})}});
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names,
              (std::vector<std::string>{"01-4.0" + suffix, "02-2.5" + suffix, "04-1.0" + suffix}));
    const std::filesystem::path last = folder / ("04-1.0" + suffix);
    Model other = suffix == ".keras" ? load_model(last) : one_dense();
    if (suffix != ".keras") other.load_weights(last);
    EXPECT_EQ(other.get_weights(), model.get_weights());
    EXPECT_EQ(other.optimizer().iterations(), model.optimizer().iterations());
  }
  EXPECT_THROW(ModelCheckpoint({.filepath = "model.txt"}), UserError);
}

}  // namespace
}  // namespace keratin
