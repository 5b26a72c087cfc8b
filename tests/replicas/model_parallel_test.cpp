// Models with sharded variables, trained for twenty steps on meshes of devices, learn what one
// device learns, for all meshes and batches.
#include "keratin/distribute/model_parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/graph/variable_shards.h"
#include "keratin/layers/layers.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/waves.h"
#include "keratin/train/callback.h"
#include "tests/replicas/difference_testing.h"

namespace keratin::distribute {
namespace {

using testing::difference;
using testing::waves;

struct Case {
  std::string name;
  Model (*make)();
  std::function<Tensor(int64_t batch)> x;
  Shape target;
  std::vector<std::pair<std::string, TensorLayout>> layouts;
  Optimizer (*optimizer)() = [] { return Optimizer(Adam({.learning_rate = 0.01})); };
};

const auto whole = std::nullopt;

// Columns, then rows; of the last layer only the bias is sharded.
Model mlp() {
  const auto x = Input({6});
  Symbols y = Dense({.units = 16, .activation = "relu"}, "up")(x);
  y = Dense({.units = 8, .activation = "tanh", .kernel_regularizer = regularizers::L2(0.01)},
            "down")(y);
  return Model({.inputs = x, .outputs = Dense({.units = 4}, "last")(y)});
}

Model lookup() {
  const auto x = Input(InputOptions{.shape = {5}, .dtype = DType::i32});
  Symbols y = Embedding({.input_dim = 12, .output_dim = 8}, "words")(x);
  y = Dense({.units = 8, .activation = "gelu"}, "up")(y);
  return Model({.inputs = x, .outputs = Dense({.units = 4}, "down")(GlobalAveragePooling1D()(y))});
}

Model transformer() {
  const auto x = Input({5, 8});
  const SymbolicTensor a = LayerNormalization({}, "before")(x);
  const SymbolicTensor seen = MultiHeadAttention({.num_heads = 4, .key_dim = 3}, "attention")(a, a);
  const SymbolicTensor sum = Add()({SymbolicTensor(x), seen});
  Symbols y = Dense({.units = 16, .activation = "relu"},
                    "up")(SymbolicTensor(LayerNormalization({}, "after")(sum)));
  y = Dense({.units = 8}, "down")(y);
  return Model({.inputs = x,
                .outputs = Dense({.units = 4}, "last")(
                    Flatten()(SymbolicTensor(Add()({sum, SymbolicTensor(y.leaf())}))))});
}

Model convnet() {
  const auto x = Input({6, 6, 2});
  Symbols y = Conv2D({.filters = 8, .kernel_size = 3, .activation = "relu"}, "first")(x);
  y = BatchNormalization({.synchronized = true}, "norm")(y);
  y = Conv2D({.filters = 4, .kernel_size = 2}, "second")(y);
  return Model({.inputs = x, .outputs = Dense({.units = 4}, "last")(Flatten()(y))});
}

Model recurrent() {
  const auto x = Input({4, 3});
  return Model(
      {.inputs = x, .outputs = Dense({.units = 4}, "last")(LSTM({.units = 8}, "memory")(x))});
}

Tensor words(int64_t batch) {
  Tensor x(DType::i32, {batch, 5});
  for (int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>((i * 7 + i / 5) % 12));
  return x;
}

template <int64_t... sample>
Tensor numbers(int64_t batch) {
  return waves({batch, sample...});
}

std::vector<Case> cases() {
  const std::vector<std::pair<std::string, TensorLayout>> megatron = {
      {"up/kernel", {whole, "model"}}, {"up/bias", {"model"}}, {"down/kernel", {"model", whole}}};
  auto attention = megatron;
  for (const char* name : {"query", "key", "value"}) {
    attention.push_back({text("attention/", name, "/kernel"), {whole, "model", whole}});
    attention.push_back({text("attention/", name, "/bias"), {"model", whole}});
  }
  attention.push_back({"attention/attention_output/kernel", {"model", whole, whole}});
  auto rows = megatron, columns = megatron;
  rows.push_back({"words/embeddings", {"model", whole}});
  columns.push_back({"words/embeddings", {whole, "model"}});
  return {
      {"mlp", mlp, numbers<6>, {4}, megatron},
      {"mlp, all columns",
       mlp,
       numbers<6>,
       {4},
       {{".*/kernel", {whole, "model"}}, {".*/bias", {"model"}}}},
      // Sharded along the batch's axis too, where sizes allow, to share the memory of weights.
      {"mlp, both axes", mlp, numbers<6>, {4}, {{".*/kernel", {"batch", "model"}}}},
      {"mlp, clipped",
       mlp,
       numbers<6>,
       {4},
       megatron,
       [] {
         return Optimizer(SGD({.learning_rate = 0.05, .momentum = 0.9}, {.global_clipnorm = 0.5}));
       }},
      {"mlp, averaged",
       mlp,
       numbers<6>,
       {4},
       megatron,
       [] {
         return Optimizer(
             RMSprop({.learning_rate = 0.01}, {.use_ema = true, .gradient_accumulation_steps = 2}));
       }},
      {"rows of words", lookup, words, {4}, rows},
      {"columns of words", lookup, words, {4}, columns},
      // Not Adam: biases of keys have no effect, so their gradients are rounding errors, which Adam
      // would scale up.
      {"transformer",
       transformer,
       numbers<5, 8>,
       {4},
       attention,
       [] { return Optimizer(SGD({.learning_rate = 0.02, .momentum = 0.9})); }},
      {"convnet",
       convnet,
       numbers<6, 6, 2>,
       {4},
       {{"first/kernel", {whole, whole, whole, "model"}},
        {"first/bias", {"model"}},
        {"norm/gamma", {"model"}},
        {"second/kernel", {whole, whole, "model", whole}}}},
      {"recurrent",
       recurrent,
       numbers<4, 3>,
       {4},
       {{"memory/.*/.*kernel", {whole, "model"}}, {"last/kernel", {"model", whole}}}},
  };
}

class ModelParallelReplicas : public ::testing::TestWithParam<size_t> {
 protected:
  ModelParallelReplicas() {
    set_logical_devices("cpu", 4);
    set_random_seed(5);
  }
  ~ModelParallelReplicas() override { set_logical_devices("cpu", 1); }
};

void compare(const Case& given, const Dims& shape, const std::vector<int64_t>& batches) {
  auto names = list_devices("cpu");
  names.resize(static_cast<size_t>(shape[0] * shape[1]));
  const DeviceMesh mesh({.shape = shape, .axis_names = {"batch", "model"}, .devices = names});
  LayoutMap map(mesh);
  for (const auto& [key, layout] : given.layouts) map.set(key, layout);
  Model one = given.make();
  const Model twin = given.make();
  twin.layer()->set_weights(one.get_weights());
  Model many = distribute(twin, ModelParallel({.layout_map = map, .batch_dim_name = "batch"}));
  size_t split = 0;
  for (const Variable& v : twin.weights()) split += shards_of(v) == nullptr ? 0 : 1;
  if (shape[1] > 1) {
    EXPECT_GE(split, given.layouts.size() > 1 ? given.layouts.size() : 3);
  }
  for (Model* model : {&one, &many})
    model->compile({.optimizer = given.optimizer(), .loss = "mse"});
  for (const int64_t batch : batches) {
    SCOPED_TRACE(text("batch ", batch));
    Dims dims{batch};
    dims.insert(dims.end(), given.target.begin(), given.target.end());
    const Tensor x = given.x(batch), y = waves(Shape(dims), 1, 0.3);
    EXPECT_LE(difference(many.predict_on_batch(x).flat(), one.predict_on_batch(x).flat()), 1e-5);
    for (int step = 0; step < 5; ++step) {
      const double got = many.train_on_batch(x, y).at("loss"),
                   expected = one.train_on_batch(x, y).at("loss");
      ASSERT_NEAR(got, expected, 1e-5 * (1 + std::abs(expected))) << "step " << step;
    }
  }
  EXPECT_LE(difference(twin.get_weights(), one.get_weights()), 1e-5);
  EXPECT_LE(
      difference(twin.predict_on_batch(given.x(3)).flat(), one.predict_on_batch(given.x(3)).flat()),
      1e-5);
}

TEST_P(ModelParallelReplicas, EqualOneDevice) {
  const Case given = cases()[GetParam()];
  for (const Dims& shape : {Dims{1, 2}, Dims{2, 1}, Dims{2, 2}, Dims{1, 4}}) {
    SCOPED_TRACE(text("mesh ", shape[0], " x ", shape[1]));
    compare(given, shape, {1, 7, 10, 64});
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelParallelReplicas, ::testing::Range(size_t{0}, cases().size()),
                         [](const auto& info) {
                           std::string name = cases()[info.param].name;
                           std::erase(name, ',');
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace keratin::distribute
