#include <filesystem>

#include "keratin/keratin.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

const Tensor lora_inputs = Tensor::of<float>(DType::f32, {3, 2}, {1, 2, -1, 0.5, 0, 3});
const Tensor lora_targets = Tensor::of<float>(DType::f32, {3, 1}, {1, -1, 2});

Model with_lora(int64_t rank) {
  const auto x = Input({2});
  const Dense dense({.units = 1, .lora_rank = rank}, "dense");
  Model model({.inputs = x, .outputs = dense(x)});
  model.compile({.optimizer = SGD({.learning_rate = 0.05}), .loss = "mse"});
  return model;
}

std::string lora_path(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("keratin_lora_" + name)).string();
}

TEST(Lora, TrainsAllButTheKernel) {
  set_random_seed(3);
  Model model = with_lora(2);
  const std::vector<Tensor> before = model.get_weights();
  const auto losses =
      model.fit(lora_inputs, lora_targets, {.epochs = 40, .verbose = 0}).history.at("loss");
  EXPECT_LT(losses.back(), 0.7 * losses.front());
  const std::vector<Tensor> after = model.get_weights();
  ASSERT_EQ(after.size(), 4U);  // kernel, bias, a, b
  EXPECT_EQ(after[0], before[0]);
  for (size_t i = 1; i < after.size(); ++i) EXPECT_NE(after[i], before[i]) << i;
}

TEST(Lora, IsMergedIntoTheKernelOfFiles) {
  set_random_seed(4);
  Model model = with_lora(2);
  model.fit(lora_inputs, lora_targets, {.epochs = 10, .verbose = 0});
  const Tensor expected = model.predict(lora_inputs);
  for (const std::string name : {"model.keras", "model.weights.h5"}) {
    const std::string path = lora_path(name);
    Model again = with_lora(2);
    if (name == "model.keras") {
      model.save(path, {.overwrite = true});
      again = load_model(path);
    } else {
      model.save_weights(path, {.overwrite = true});
      again.save_weights(path + ".old.weights.h5", {.overwrite = true});
      again.load_weights(path);
    }
    const Tensor found = again.predict(lora_inputs);
    for (int64_t i = 0; i < found.count(); ++i) EXPECT_NEAR(found.at(i), expected.at(i), 1e-5);
    ASSERT_EQ(again.get_weights().size(), 4U) << name;
    EXPECT_EQ(again.get_weights()[2], Tensor::zeros(DType::f32, {2, 2})) << name;
    EXPECT_EQ(again.get_weights()[3], Tensor::zeros(DType::f32, {2, 1})) << name;
  }
}

TEST(Lora, CanBeEnabledLater) {
  set_random_seed(5);
  const auto x = Input({2});
  const Dense dense({.units = 1}, "dense");
  Model model({.inputs = x, .outputs = dense(x)});
  const Tensor before = model.predict(lora_inputs);
  dense->enable_lora({.rank = 1, .alpha = 4});
  EXPECT_EQ(model.predict(lora_inputs), before);  // b is zero
  const std::vector<Variable> weights = dense->weights();
  ASSERT_EQ(weights.size(), 4U);
  EXPECT_EQ(weights[2].path(), "dense/lora_kernel_a");
  EXPECT_FALSE(weights[0].trainable());
  weights[2].assign(Tensor::of<float>(DType::f32, {2, 1}, {1, 2}));
  weights[3].assign(Tensor::of<float>(DType::f32, {1, 1}, {0.5}));
  const Tensor after = model.predict(lora_inputs);
  for (int64_t i = 0; i < 3; ++i)  // 4 · (x0 + 2 · x1) · 0.5 more
    EXPECT_NEAR(after.at(i) - before.at(i),
                2 * (lora_inputs.at(2 * i) + 2 * lora_inputs.at(2 * i + 1)), 1e-4);
  const Json config = dense->get_config();
  EXPECT_EQ(config.at("lora_rank"), Json(1));
  EXPECT_EQ(config.at("lora_alpha"), Json(4));
}

TEST(Lora, IsInTheConfigOnlyWhereItIsEnabled) {
  EXPECT_FALSE(Dense({.units = 1})->get_config().contains("lora_rank"));
  const Json none = Json::parse(R"({"units": 1, "lora_rank": null, "lora_alpha": null})");
  EXPECT_FALSE(DenseLayer::from_config(none, {})->get_config().contains("lora_alpha"));
  EXPECT_EQ(Dense({.units = 1, .lora_rank = 3})->get_config().at("lora_alpha"), Json(3));
}

// kernel + alpha / rank · a · b, where a has the window of the kernel.
TEST(Lora, AddsToTheKernelOfConvolutions) {
  const Conv2D conv({.filters = 2, .kernel_size = {1, 2}, .groups = 2, .use_bias = false}, "conv");
  const auto x = Input({1, 2, 4});
  Model model({.inputs = x, .outputs = conv(x)});
  conv->enable_lora({.rank = 3, .alpha = 6});
  const std::vector<Variable> weights = conv->weights();
  ASSERT_EQ(weights.size(), 3U);
  EXPECT_FALSE(weights[0].trainable());
  EXPECT_EQ(weights[1].path(), "conv/lora_kernel_a");
  EXPECT_EQ(weights[1].shape(), Shape({1, 2, 2, 3}));
  EXPECT_EQ(weights[2].path(), "conv/lora_kernel_b");
  EXPECT_EQ(weights[2].shape(), Shape({3, 2}));
  weights[0].assign(Tensor::zeros(DType::f32, {1, 2, 2, 2}));
  weights[1].assign(Tensor::full(DType::f32, {1, 2, 2, 3}, 0.5));
  weights[2].assign(Tensor::of<float>(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6}));
  // The kernel is 6 / 3 · 0.5 · the sums of the columns of b, 9 and 12, at each of 4 inputs.
  EXPECT_EQ(model.predict(Tensor::full(DType::f32, {1, 1, 2, 4}, 1)),
            Tensor::of<float>(DType::f32, {1, 1, 1, 2}, {36, 48}));
}

// Unlike Dense, a convolution that is made from a config has its alpha.
TEST(Lora, KeepsAlphaOfConvolutions) {
  const Conv1D conv({.filters = 2, .kernel_size = 2, .lora_rank = 2, .lora_alpha = 8});
  conv(Input({5, 3}));
  EXPECT_EQ(conv->get_config().at("lora_alpha"), Json(8));
  const Conv1D fallback({.filters = 2, .kernel_size = 2, .lora_rank = 2});
  fallback(Input({5, 3}));
  EXPECT_EQ(fallback->get_config().at("lora_alpha"), Json(2));
  EXPECT_FALSE(Conv1D({.filters = 2, .kernel_size = 2, .lora_alpha = 8})
                   ->get_config()
                   .contains("lora_alpha"));
}

TEST(Lora, RefusesWhatKerasRefuses) {
  const Dense dense({.units = 1, .kernel_constraint = "NonNeg", .lora_rank = 2});
  expect_user_error([&] { dense(Input({2})); },
                    {"Lora is incompatible with kernel constraints", "`kernel_constraint`"});
  const Embedding table({.input_dim = 3, .output_dim = 2, .embeddings_constraint = "NonNeg"});
  table(Input({2}));
  expect_user_error([&] { table->enable_lora({.rank = 1}); },
                    {"Lora is incompatible with embedding constraints", "`embeddings_constraint`"});
  expect_user_error([] { Dense({.units = 1})->enable_lora({.rank = 1}); },
                    "Cannot enable lora on a layer that isn't yet built.");
  const Dense twice({.units = 1, .lora_rank = 1});
  twice(Input({2}));
  expect_user_error([&] { twice->enable_lora({.rank = 1}); }, "lora is already enabled");
  expect_user_error([] { Dense({.units = 1, .lora_rank = -1}); }, "lora_rank=-1");
  const ConvConfig<2> filter{.filters = 1, .kernel_size = 1};
  expect_user_error([&] { Conv2D(filter)->enable_lora({.rank = 1}); },
                    "Cannot enable lora on a layer that isn't yet built.");
  const Conv2D built({.filters = 1, .kernel_size = 1, .lora_rank = 1});
  built(Input({4, 4, 1}));
  expect_user_error([&] { built->enable_lora({.rank = 1}); }, "lora is already enabled");
  const Conv2D positive({.filters = 1, .kernel_size = 1, .kernel_constraint = "NonNeg"});
  positive(Input({4, 4, 1}));
  expect_user_error([&] { positive->enable_lora({.rank = 1}); },
                    "Lora is incompatible with kernel constraints");
}

}  // namespace
}  // namespace keratin
