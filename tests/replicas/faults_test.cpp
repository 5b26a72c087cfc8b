// An error on one device stops all devices, names the device and the layer, and leaves a model that
// still works.
#include <gtest/gtest.h>

#include <map>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/base/text.h"
#include "keratin/distribute/data_parallel.h"
#include "keratin/distribute/model_parallel.h"
#include "keratin/distribute/multi_gpu_model.h"
#include "keratin/graph/input.h"
#include "keratin/graph/variable_shards.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/ops/ops.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/waves.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

using distribute::DataParallel;
using distribute::DeviceMesh;
using distribute::LayoutMap;
using distribute::ModelParallel;
using testing::expect_user_error;
using testing::waves;

const Device second{Device::Kind::gpu, 1};

class ReplicaFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    set_logical_devices("gpu", 3);
    set_random_seed(11);
    clear_session();
  }
  void TearDown() override {
    for (const Device device : devices()) set_memory_limit(device, std::nullopt);
    set_logical_devices("gpu", 0);
  }
};

Model wide() {
  const auto x = Input({16});
  const SymbolicTensor y = Dense({.units = 16}, "first")(x);
  return Model({.inputs = x,
                .outputs = Dense({.units = 2}, "narrow")(
                    Dense({.units = 512, .activation = "tanh"}, "wide")(y))});
}

// f must throw a BackendError whose message has all of these parts.
template <class F>
void expect_backend_error(F&& f, const std::vector<std::string>& parts) {
  try {
    f();
    FAIL() << "there was not enough memory";
  } catch (const BackendError& error) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

std::vector<std::vector<double>> values_of(const Model& model) {
  std::vector<std::vector<double>> all;
  for (const Tensor& weight : model.get_weights()) all.push_back(weight.to_vector());
  return all;
}

// Trains both models alike; the training of one of them has failed before.
void expect_same_training(const Model& model, Model& parallel, const Model& twin,
                          Model& twin_parallel, const Tensor& x, const Tensor& y) {
  const FitOptions options{.batch_size = 12, .epochs = 2, .verbose = 0, .shuffle = false};
  EXPECT_EQ(parallel.fit(x, y, options)["loss"], twin_parallel.fit(x, y, options)["loss"]);
  EXPECT_EQ(values_of(model), values_of(twin));
}

TEST_F(ReplicaFaults, OutOfMemoryNamesDeviceAndLayerAndTheNextFitWorks) {
  const Model model = wide(), twin = clone_model(model);
  Model(twin).set_weights(model.get_weights());
  Model parallel = multi_gpu_model(model, {.gpus = 3}),
        twin_parallel = multi_gpu_model(twin, {.gpus = 3});
  for (Model* one : {&parallel, &twin_parallel}) one->compile({.optimizer = "adam", .loss = "mse"});
  const Tensor x = waves({36, 16}, 0), y = waves({36, 2}, 1);
  const auto before = values_of(model);
  const size_t used = memory_use(second).used;

  set_memory_limit(second, used + 5000);
  // On a real GPU, libraries need most of the memory.
  expect_backend_error([&] { parallel.fit(x, y, {.batch_size = 12, .verbose = 0}); },
                       {"gpu:1: out of memory, ", " bytes were requested and 5000 of ",
                        "; a program needs them for its working memory, most of all for step ",
                        cuda::device_count() == 0 ? ", of layer 'wide'" : ", of layer '"});
  EXPECT_EQ(memory_use(second).used, used) << "memory was leaked";
  EXPECT_EQ(values_of(model), before);

  set_memory_limit(second, std::nullopt);
  reset_memory_peak(second);
  expect_same_training(model, parallel, twin, twin_parallel, x, y);
  EXPECT_GT(memory_use(second).peak, used + 5000);
}

TEST_F(ReplicaFaults, OutOfMemoryNamesTheVariable) {
  set_memory_limit(second, memory_use(second).used + 100);
  const auto scope = device_scope("gpu:1");
  const Variable v({.name = "table", .shape = {64}});
  expect_backend_error([&] { v.value(); }, {"variable 'table': gpu:1: out of memory, 256 bytes"});
  const Variable owned({.name = "owned", .shape = {64}, .device = Device{}});
  owned.value();
  EXPECT_THROW(owned.move_to(second), BackendError);
  EXPECT_EQ(owned.device(), Device{});
  set_memory_limit(second, std::nullopt);
  EXPECT_EQ(v.value().count(), 64);
}

Model wide_on_gpu() {
  const auto scope = device_scope("gpu:0");
  return wide();
}

std::vector<size_t> bytes_in_use() {
  std::vector<size_t> all;
  for (const Device device : devices(Device::Kind::gpu)) all.push_back(memory_use(device).used);
  return all;
}

TEST_F(ReplicaFaults, AFailedRelocationMovesNothing) {
  const Model model = wide_on_gpu();
  const Tensor x = waves({8, 16}, 0), expected = model.predict(x).leaf();
  const auto before = values_of(model);
  const auto relocate = [&] { return multi_gpu_model(model, {.gpus = 3, .cpu_relocation = true}); };
  set_memory_limit(Device{}, memory_use(Device{}).used + 4000);  // for the first layer, no more
  expect_backend_error(relocate, {"variable 'wide/kernel': cpu:0: out of memory, 32768 bytes"});
  set_memory_limit(Device{}, std::nullopt);
  for (const Variable& v : model.weights()) EXPECT_EQ(v.device(), Device("gpu:0")) << v.path();
  EXPECT_EQ(values_of(model), before);
  EXPECT_EQ(model.predict(x).leaf(), expected);
  EXPECT_EQ(relocate().predict(x).leaf().shape(), expected.shape());
  for (const Variable& v : model.weights()) EXPECT_EQ(v.device(), Device{}) << v.path();
}

// How a variable is stored: "gpu:0", "[gpu:0 gpu:1] along 1".
std::string storage_of(const Variable& variable) {
  const VariableShards* sharded = shards_of(variable);
  if (sharded == nullptr) return text(variable.device());
  std::string all;
  for (const Variable& shard : sharded->shards)
    all += (all.empty() ? "[" : " ") + storage_of(shard);
  return all + ']' + (sharded->axis ? text(" along ", *sharded->axis) : " mirrored");
}

// A distribution of the wide model over two devices, and a memory limit of one of them that the
// first variable to be stored fits, and another does not.
struct Spread {
  std::string name;
  std::function<Model(const Model&, const std::vector<std::string>& devices)> over;
  size_t device = 0, bytes = 0;
};

std::vector<Spread> spreads() {
  const auto data_parallel = [](bool mirror) {
    return [mirror](const Model& model, const std::vector<std::string>& devices) {
      return distribute::distribute(model,
                                    DataParallel({.devices = devices, .mirror_variables = mirror}));
    };
  };
  const auto sharded = [](const Model& model, const std::vector<std::string>& devices) {
    LayoutMap map(
        DeviceMesh({.shape = {1, 2}, .axis_names = {"batch", "model"}, .devices = devices}));
    map.set("wide/kernel", {std::nullopt, "model"});
    map.set("narrow/kernel", {"model", std::nullopt});
    return distribute::distribute(model, ModelParallel({.layout_map = map}));
  };
  return {{"mirrored", data_parallel(true), 1, 34000},
          {"one owner each", data_parallel(false), 0, 1000},
          {"sharded", sharded, 1, 17000}};
}

TEST_F(ReplicaFaults, AFailedDistributionChangesNothing) {
  set_logical_devices("gpu", 4);
  for (const Spread& from : spreads())
    for (const Spread& to : spreads()) {
      SCOPED_TRACE(text("from ", from.name, " to ", to.name));
      clear_session();
      const Model model = wide_on_gpu();
      const Model many = from.over(model, {"gpu:0", "gpu:1"});
      const Tensor x = waves({8, 16}, 0), expected = many.predict(x).leaf();
      const auto values = values_of(model);
      const auto devices = [&] {
        std::vector<std::string> all;
        for (const Variable& v : model.weights()) all.push_back(storage_of(v));
        return all;
      };
      const auto before = devices();
      const auto bytes = bytes_in_use();
      const std::vector<std::string> there = {"gpu:2", "gpu:3"};
      set_memory_limit(Device(there[to.device]), to.bytes);
      expect_backend_error([&] { to.over(model, there); }, {": out of memory, "});
      set_memory_limit(Device(there[to.device]), std::nullopt);
      EXPECT_EQ(devices(), before);
      EXPECT_EQ(values_of(model), values);
      EXPECT_EQ(many.predict(x).leaf(), expected);
      EXPECT_EQ(bytes_in_use(), bytes);
      EXPECT_NO_THROW(to.over(model, there));
      EXPECT_NE(devices(), before);
    }
}

// An optimizer makes its state when training begins, beside the weights.
TEST_F(ReplicaFaults, TheNextFitMakesSlotsThatDidNotFit) {
  std::vector<Spread> configs = spreads();
  configs.push_back({"multi_gpu_model", [](const Model& model, const std::vector<std::string>&) {
                       return multi_gpu_model(model, {.gpus = 2});
                     }});
  const std::map<std::string, std::function<Optimizer()>> optimizers = {
      {"adam", [] { return Adam(); }},
      {"muon", [] { return Muon(); }},  // these have their own lists of slots
      {"schedule free", [] { return ScheduleFreeAdamW(); }},
      {"scaled", [] { return LossScaleOptimizer({.inner_optimizer = Adam()}); }}};
  const Tensor x = waves({36, 16}, 0), y = waves({36, 2}, 1);
  for (const Spread& config : configs)
    for (const auto& [name, optimizer] : optimizers) {
      SCOPED_TRACE(text(config.name, ", ", name));
      clear_session();
      const Model model = wide_on_gpu(), twin = wide_on_gpu();
      twin.layer()->set_weights(model.get_weights());
      const std::vector<std::string> there = {"gpu:1", "gpu:0"};  // the last has the largest
      Model many = config.over(model, there), twins = config.over(twin, there);
      for (Model* one : {&many, &twins}) one->compile({.optimizer = optimizer(), .loss = "mse"});
      const auto before = values_of(model);
      set_memory_limit(Device("gpu:0"), memory_use(Device("gpu:0")).used + 10000);
      expect_backend_error([&] { many.fit(x, y, {.verbose = 0}); },
                           {"variable '", "gpu:0: out of memory, "});
      set_memory_limit(Device("gpu:0"), std::nullopt);
      EXPECT_EQ(values_of(model), before);
      expect_same_training(model, many, twin, twins, x, y);
      EXPECT_EQ(many.optimizer().variables().size(), twins.optimizer().variables().size());
    }
}

TEST_F(ReplicaFaults, AnErrorOfALambdaNamesItsDeviceAndLayer) {
  auto calls_left = std::make_shared<int>(1000);
  const auto x = Input({4});
  const Lambda trouble(
      [calls_left](Value v) {
        if ((*calls_left)-- == 0) throw std::runtime_error("no more");
        return v * 2.0;
      },
      "trouble");
  const Model model({.inputs = x, .outputs = Dense({.units = 1})(trouble(x))});
  Model parallel = multi_gpu_model(model, {.gpus = 3});
  parallel.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor in = waves({9, 4}, 0), out = waves({9, 1}, 1);
  const auto before = values_of(model);
  *calls_left = 2;  // the third replica's
  expect_user_error([&] { parallel.fit(in, out, {.verbose = 0}); },
                    "gpu:2, layer 'trouble': no more");
  EXPECT_EQ(values_of(model), before);
  *calls_left = 1000;
  const History history = parallel.fit(in, out, {.epochs = 20, .verbose = 0});
  EXPECT_LT(history["loss"].back(), history["loss"].front());
}

TEST_F(ReplicaFaults, RefusesBadInputAndTheNextFitWorks) {
  const Model model = wide();
  Model parallel = multi_gpu_model(model, {.gpus = 2});
  parallel.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor y = waves({6, 2}, 1);
  const auto before = values_of(model);
  expect_user_error(
      [&] {
        parallel.fit(waves({6, 15}, 0), y, {.verbose = 0});
      },
      "expected shape=(None, 16), found shape=(6, 15)");
  expect_user_error(
      [&] {
        parallel.fit(waves({6, 16}, 0), waves({5, 2}, 0), {.verbose = 0});
      },
      "5");
  EXPECT_EQ(values_of(model), before);
  EXPECT_NO_THROW(parallel.fit(waves({6, 16}, 0), y, {.verbose = 0}));
  EXPECT_NE(values_of(model), before);
}

// An embedding of words beside a branch of numbers, which draws random numbers, normalises, and
// finishes long before the embedding.
Model words_and_numbers() {
  const auto words = Input({.shape = {3}, .dtype = DType::i32}), numbers = Input({4});
  const SymbolicTensor x =
      Dropout({.rate = 0.25, .seed = 3})(BatchNormalization()(Dense({.units = 6})(numbers)));
  const SymbolicTensor y = Flatten()(Embedding({.input_dim = 9, .output_dim = 2}, "words")(words));
  return Model({.inputs = {words, numbers}, .outputs = Dense({.units = 1})(Concatenate()({x, y}))});
}

using Parallelise = std::function<Model(const Model&)>;

// An index out of range in the slice of the second device is an error and changes no state:
// training continues as that of a twin that never saw the index.
void expect_bad_words_change_nothing(const Parallelise& parallelise, int threads) {
  const Model model = words_and_numbers(), twin = clone_model(model);
  Model(twin).set_weights(model.get_weights());
  set_random_seed(5);
  Model parallel = parallelise(model), twin_parallel = parallelise(twin);
  for (Model* one : {&parallel, &twin_parallel})
    one->compile({.optimizer = SGD({.learning_rate = 0.05, .momentum = 0.9}),
                  .loss = "mse",
                  .engine = {.threads = threads}});
  const Tensor numbers = waves({12, 4}, 0), y = waves({12, 1}, 1);
  Tensor words(DType::i32, {12, 3});
  for (int64_t i = 0; i < words.count(); ++i) words.set(i, i % 9);
  Tensor bad = words.clone();
  bad.set(5 * 3, 9);
  const FitOptions options{.batch_size = 12, .epochs = 2, .verbose = 0, .shuffle = false};
  const auto train = [&](Model& one, const Tensor& ids) {
    return one.fit({ids, numbers}, y, options)["loss"];
  };

  EXPECT_EQ(train(parallel, words), train(twin_parallel, words));
  const auto before = values_of(model);
  for (int i = 0; i < 2; ++i) {
    try {
      train(parallel, bad);
      FAIL() << "9 is no word";
    } catch (const UserError& error) {
      const std::string message = error.what();
      for (const char* part : {"pu:1: step ", ", of layer 'words'", "index 9 is outside axis 0"})
        EXPECT_NE(message.find(part), std::string::npos) << message;
    }
    EXPECT_EQ(values_of(model), before);
  }
  EXPECT_EQ(train(parallel, words), train(twin_parallel, words));
  EXPECT_EQ(values_of(model), values_of(twin));
  EXPECT_EQ(parallel.optimizer().iterations(), twin_parallel.optimizer().iterations());
}

TEST_F(ReplicaFaults, AnIndexOutOfRangeChangesNoState) {
  for (const int threads : {1, 4})
    for (const bool cpu_merge : {true, false})
      expect_bad_words_change_nothing(
          [&](const Model& model) {
            return multi_gpu_model(model, {.gpus = 3, .cpu_merge = cpu_merge});
          },
          threads);
}

TEST_F(ReplicaFaults, AnIndexOutOfRangeChangesNoStateOfDataParallelModels) {
  set_logical_devices("cpu", 3);
  for (const int threads : {1, 4})
    for (const bool mirror : {true, false})
      expect_bad_words_change_nothing(
          [&](const Model& model) {
            return distribute::distribute(
                model, distribute::DataParallel(
                           {.devices = {"cpu:0", "cpu:1", "cpu:2"}, .mirror_variables = mirror}));
          },
          threads);
  set_logical_devices("cpu", 1);
}

TEST_F(ReplicaFaults, MemoryUseCountsEachDevice) {
  const Model model = wide();
  const Model parallel = multi_gpu_model(model, {.gpus = 2});
  const size_t before = memory_use(second).used;
  parallel.predict(waves({8, 16}, 0));
  // At least 4 samples of 512 hidden units, and the weights that were sent.
  EXPECT_GE(memory_use(second).used, before + 4 * 512 * 4 + 16 * 512 * 4);
  EXPECT_EQ(memory_use(Device("gpu:2")).used, 0u) << "it was not used";
}

}  // namespace
}  // namespace keratin
