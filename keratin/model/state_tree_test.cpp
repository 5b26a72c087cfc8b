#include <gtest/gtest.h>

#include "keratin/keratin.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

void list_paths(const Tree<Tensor>& tree, const std::string& path, std::vector<std::string>& out) {
  if (tree.is_leaf()) return out.push_back(path);
  if (tree.dict().empty()) out.push_back(path + "/{}");
  for (const auto& [name, item] : tree.dict())
    list_paths(item, path.empty() ? name : path + '/' + name, out);
}

std::vector<std::string> paths_of(const Tree<Tensor>& tree) {
  std::vector<std::string> paths;
  list_paths(tree, "", paths);
  return paths;
}

Sequential chain() {
  clear_session();
  return Sequential(
      {Input({.shape = {2}, .name = "x"}).layer(), Dense({.units = 3}, "a"),
       BatchNormalization({}, "bn"), Dropout({.rate = 0.5}, "do"), Dense({.units = 1}, "b")},
      "m");
}

Tensor ones(const Shape& shape) { return Tensor::full(DType::f32, shape, 1); }

// The names are those of Keras 3.15.1 for the same models.
TEST(StateTree, HasKerasNames) {
  Sequential model = chain();
  model.compile({.optimizer = Adam({}, {.name = "adam"}), .loss = "mse", .metrics = {"mae"}});
  model.train_on_batch(ones({4, 2}), ones({4, 1}));
  std::vector<std::string> expected = {
      "metrics_variables/loss/count",
      "metrics_variables/loss/total",
      "metrics_variables/mean_absolute_error/count",
      "metrics_variables/mean_absolute_error/total",
      "non_trainable_variables/m/bn/moving_mean",
      "non_trainable_variables/m/bn/moving_variance",
      "non_trainable_variables/seed_generator/seed_generator_state",
      "optimizer_variables/adam/iteration",
      "optimizer_variables/adam/learning_rate"};
  for (const char* weight : {"a_bias", "a_kernel", "b_bias", "b_kernel", "bn_beta", "bn_gamma"})
    for (const char* slot : {"_momentum", "_velocity"})
      expected.push_back(std::string("optimizer_variables/adam/m_") + weight + slot);
  for (const char* weight : {"a/bias", "a/kernel", "b/bias", "b/kernel", "bn/beta", "bn/gamma"})
    expected.push_back(std::string("trainable_variables/m/") + weight);
  EXPECT_EQ(paths_of(model.get_state_tree()), expected);
  EXPECT_EQ(model.metrics_names(), (std::vector<std::string>{"loss", "compile_metrics"}));
}

TEST(StateTree, HasTheMetricsOfSeveralLosses) {
  clear_session();
  const SymbolicTensor in = Input({2});
  Model model(
      {.inputs = in, .outputs = {Dense({.units = 1}, "o1")(in), Dense({.units = 1}, "o2")(in)}});
  model.compile(
      {.optimizer = "sgd", .loss = {"mse", "mae"}, .metrics = Metrics::each({{"mae"}, {"mse"}})});
  model.train_on_batch(ones({4, 2}), {ones({4, 1}), ones({4, 1})});
  EXPECT_EQ(model.metrics_names(),
            (std::vector<std::string>{"loss", "compile_metrics", "o1_loss", "o2_loss"}));
  EXPECT_EQ(
      paths_of(model.get_state_tree()["metrics_variables"]),
      (std::vector<std::string>{
          "compile_loss/o1_loss/count", "compile_loss/o1_loss/total", "compile_loss/o2_loss/count",
          "compile_loss/o2_loss/total", "loss/count", "loss/total", "mean_absolute_error/count",
          "mean_absolute_error/total", "mean_squared_error/count", "mean_squared_error/total"}));
  const Logs results = model.get_metrics_result();
  std::vector<std::string> names;
  for (const auto& item : results) names.push_back(item.first);
  EXPECT_EQ(names, (std::vector<std::string>{"loss", "o1_loss", "o1_mae", "o2_loss", "o2_mse"}));
  EXPECT_NEAR(results.at("o1_loss") + results.at("o2_loss"), results.at("loss"), 1e-5);
}

TEST(StateTree, ContinuesTrainingElsewhereWithTheSameBits) {
  const auto trained = [] {
    Sequential model = chain();
    model.compile({.optimizer = Adam({}, {.name = "adam"}), .loss = "mse", .metrics = {"mae"}});
    model.train_on_batch(ones({4, 2}), ones({4, 1}));
    return model;
  };
  Sequential first = trained(), second = trained();
  second.set_state_tree(first.get_state_tree());
  EXPECT_EQ(first.train_on_batch(ones({4, 2}), ones({4, 1})),
            second.train_on_batch(ones({4, 2}), ones({4, 1})));
  const auto a = first.get_weights(), b = second.get_weights();
  for (size_t i = 0; i < a.size(); ++i)
    for (int64_t k = 0; k < a[i].count(); ++k) EXPECT_EQ(a[i].at(k), b[i].at(k));
}

TEST(StateTree, OfAModelThatIsNotCompiledHasWeightsAlone) {
  const Tree<Tensor> state = chain().get_state_tree();
  EXPECT_TRUE(state["optimizer_variables"].dict().empty());
  EXPECT_TRUE(state["metrics_variables"].dict().empty());
  // The tensors are copies.
  Sequential model = chain();
  Tensor kernel = model.get_state_tree()["trainable_variables"]["m"]["a"]["kernel"].leaf();
  const double before = model.get_weights()[0].at(0);
  kernel.set(0, 1000);
  EXPECT_EQ(model.get_weights()[0].at(0), before);
}

TEST(StateTree, ThatDoesNotFitChangesNothing) {
  using Dict = Tree<Tensor>::Dict;
  Sequential model = chain();
  const double before = model.get_weights()[0].at(0);
  const auto set = [&](const std::string& group, const std::string& name, Tree<Tensor> value) {
    Dict weights{{"kernel", Tensor::full(DType::f32, {2, 3}, 7)}};
    weights.insert_or_assign(name, std::move(value));
    model.set_state_tree(Dict{{group, Dict{{"m", Dict{{"a", weights}}}}}});
  };
  expect_user_error([&] { set("weights", "bias", ones({3})); }, "Unknown variable name: weights");
  expect_user_error([&] { set("trainable_variables", "scale", ones({3})); },
                    "set_state_tree: the model has no variable 'm/a/scale' in trainable_variables");
  expect_user_error([&] { set("trainable_variables", "bias", ones({4})); },
                    "set_state_tree: 'm/a/bias' expected shape [3], got [4]");
  expect_user_error([&] { set("trainable_variables", "bias", {}); },
                    "set_state_tree: 'm/a/bias' in trainable_variables is neither a tensor");
  EXPECT_EQ(model.get_weights()[0].at(0), before);
  set("trainable_variables", "bias", ones({3}));
  EXPECT_EQ(model.get_weights()[0].at(0), 7);
}

TEST(StateTree, RefusesVariablesOfOneName) {
  clear_session();
  const SymbolicTensor in = Input({2});
  Model model(
      {.inputs = in, .outputs = {Dense({.units = 1}, "o1")(in), Dense({.units = 1}, "o2")(in)}});
  model.compile({.loss = {"mse", "mse"}, .metrics = Metrics::each({{"mae"}, {"mae"}})});
  model.train_on_batch(ones({4, 2}), {ones({4, 1}), ones({4, 1})});
  expect_user_error([&] { model.get_state_tree(); },
                    "The following variable path is found twice in the model: "
                    "'mean_absolute_error/");
}

}  // namespace
}  // namespace keratin
