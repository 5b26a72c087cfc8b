// Metrics, validation, sample and class weights, and callbacks are the same with replicas as on one
// device.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "keratin/base/text.h"
#include "keratin/callbacks/callbacks.h"
#include "keratin/data/csv.h"
#include "keratin/distribute/data_parallel.h"
#include "keratin/distribute/multi_gpu_model.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/waves.h"
#include "tests/replicas/difference_testing.h"

namespace keratin {
namespace {

using distribute::DataParallel;
using testing::difference;
using testing::tolerance;
using testing::waves;

Model classifier() {
  const auto x = Input({4});
  const Symbols h = Dense({.units = 12, .activation = "tanh"})(x);
  return Model({.inputs = x, .outputs = Dense({.units = 3, .activation = "softmax"})(h)});
}

// The class is the index of the largest of the first three numbers, except in some samples.
Batch labelled(int64_t count, int64_t wrong_every = 1000) {
  const Tensor x = waves({count, 4}, 0, 0.9);
  Tensor y(DType::i32, {count, 1}), weight(DType::f32, {count});
  for (int64_t i = 0; i < count; ++i) {
    int64_t largest = 0;
    for (int64_t k = 1; k < 3; ++k)
      if (x.at(4 * i + k) > x.at(4 * i + largest)) largest = k;
    y.set(i, static_cast<double>((largest + (i % wrong_every == wrong_every - 1 ? 1 : 0)) % 3));
    weight.set(i, static_cast<double>(i % 4) / 2);
  }
  return {x, y, weight};
}

// All numbers that training reports, by name.
using Record = std::map<std::string, std::vector<double>>;

void add(Record& record, const std::string& what, const Logs& logs) {
  for (const auto& [name, value] : logs) record[text(what, ' ', name)].push_back(value);
}

void expect_same(const Record& got, const Record& expected) {
  for (const auto& [name, values] : expected) {
    ASSERT_TRUE(got.contains(name)) << name;
    const std::vector<double>& ours = got.at(name);
    ASSERT_EQ(ours.size(), values.size()) << name;
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(ours[i], values[i], tolerance(1e-5, 1e-3) * (1 + std::abs(values[i])))
          << name << ", entry " << i;
  }
  EXPECT_EQ(got.size(), expected.size());
}

// The same model on three devices; training it trains the given model.
struct Replication {
  const char* name;
  Model (*over)(const Model& made);
};
Model data_parallel(const Model& made, bool mirror) {
  return distribute::distribute(
      made, DataParallel({.devices = {"gpu:0", "gpu:1", "gpu:2"}, .mirror_variables = mirror}));
}
const Replication replications[] = {
    {"multi_gpu_model", [](const Model& made) { return multi_gpu_model(made, {.gpus = 3}); }},
    {"relocated",
     [](const Model& made) {
       return multi_gpu_model(made, {.gpus = 3, .cpu_merge = false, .cpu_relocation = true});
     }},
    {"one owner each", [](const Model& made) { return data_parallel(made, false); }},
    {"mirrored", [](const Model& made) { return data_parallel(made, true); }},
};

// With batches of 16, the last batch of 50 samples has two: fewer than devices.
class TrainingOptions : public ::testing::Test {
 protected:
  void SetUp() override { set_logical_devices("gpu", 3); }
  void TearDown() override { set_logical_devices("gpu", 0); }

  // Trains on one device and on three, from the same weights and seed.
  static void check(const std::function<Record(Model&)>& course) {
    const auto scope = device_scope("gpu:0");
    const Model first = classifier();
    const auto take = [&](const Replication& replication) {
      const Model made = classifier();
      made.layer()->set_weights(first.get_weights());
      Model model = replication.over(made);
      model.compile({.optimizer = SGD({.learning_rate = 0.1, .momentum = 0.5}),
                     .loss = "sparse_categorical_crossentropy",
                     .metrics = {"accuracy"},
                     .weighted_metrics = {"accuracy"}});
      set_random_seed(3);
      Record record = course(model);
      add(record, "score", model.evaluate(labelled(23), {.batch_size = 8, .verbose = 0}));
      for (const Tensor& weight : made.get_weights())
        for (const double value : weight.to_vector()) record["weights"].push_back(value);
      return record;
    };
    const Record expected = take({"one device", [](const Model& made) { return made; }});
    for (const Replication& replication : replications) {
      SCOPED_TRACE(replication.name);
      expect_same(take(replication), expected);
    }
  }
};

// A third of the validation targets are wrong, so that its loss rises in the end.
TEST_F(TrainingOptions, ValidationEarlyStoppingAndLogs) {
  const auto log = std::filesystem::path(::testing::TempDir()) / "keratin_replica_training.csv";
  check([&](Model& model) {
    const History history = model.fit(
        labelled(50), {.batch_size = 16,
                       .epochs = 40,
                       .verbose = 0,
                       .callbacks = {ReduceLROnPlateau({.factor = 0.5, .patience = 2}),
                                     EarlyStopping({.patience = 4, .restore_best_weights = true}),
                                     CSVLogger({.filename = log})},
                       .validation_data = labelled(20, 3)});
    EXPECT_LT(history.epoch.size(), 40u);
    EXPECT_LT(history["learning_rate"].back(), 0.1);
    Record record = history.history;
    const CsvTable table = read_csv(log);
    for (const std::string& name : table.names)
      record["logged " + name] = table.column(name).to_vector();
    return record;
  });
  std::filesystem::remove(log);
}

TEST_F(TrainingOptions, SampleWeightsAndASplit) {
  check([](Model& model) {
    const Batch all = labelled(50);
    Record record = model
                        .fit(all.x, all.y,
                             {.batch_size = 16,
                              .epochs = 4,
                              .verbose = 0,
                              .callbacks = {LearningRateScheduler(
                                  [](int64_t, double rate) { return rate * 0.8; })},
                              .validation_split = 0.3,
                              .sample_weight = all.sample_weight})
                        .history;
    add(record, "weighted score",
        model.evaluate(all.x, all.y,
                       {.batch_size = 16, .verbose = 0, .sample_weight = all.sample_weight}));
    return record;
  });
}

TEST_F(TrainingOptions, ClassWeights) {
  check([](Model& model) {
    const Batch all = labelled(50);
    return model
        .fit(all.x, all.y,
             {.batch_size = 16,
              .epochs = 4,
              .verbose = 0,
              .class_weight = {{0, 0.5}, {1, 2}, {2, 1}}})
        .history;
  });
}

TEST_F(TrainingOptions, TrainOnBatch) {
  check([](Model& model) {
    Record record;
    for (const int64_t size : {16, 2, 7, 1, 16}) {
      const Batch batch = labelled(size);
      add(record, "trained",
          model.train_on_batch(batch.x, batch.y, {.class_weight = {{0, 0.5}, {1, 2}, {2, 1}}}));
      add(record, "trained with weights",
          model.train_on_batch(batch.x, batch.y, {.sample_weight = batch.sample_weight}));
      add(record, "tested",
          model.test_on_batch(batch.x, batch.y, {.sample_weight = batch.sample_weight}));
      model.reset_metrics();
    }
    return record;
  });
}

}  // namespace
}  // namespace keratin
