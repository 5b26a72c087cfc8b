#include "keratin/io/compile_config.h"

#include <gtest/gtest.h>

#include "keratin/testing/warnings.h"

namespace keratin::io {
namespace {

// A file of a newer Keras trains on, and says what of it was left out.
TEST(CompileConfig, UnknownKeysAreAListOfWarnings) {
  const testing::Warnings warnings;
  const TrainingOptions options = training_options(Json::parse(R"({
      "optimizer": {"class_name": "Adam", "config": {
          "beta_1": 0.75, "colour": "red",
          "learning_rate": {"class_name": "CosineDecay", "config": {
              "initial_learning_rate": 0.5, "decay_steps": 4, "speed": 1}}}},
      "loss": {"class_name": "Huber", "config": {"delta": 0.25, "depth": [1, 2]}},
      "metrics": [{"class_name": "Precision", "config": {"top_k": 3, "recall": null}}]})"));
  EXPECT_EQ(options.optimizer->get_config().at("beta_1"), Json(0.75));
  const Json again = compile_config(options);
  EXPECT_EQ(again.at("loss").at("config").at("delta"), Json(0.25));
  EXPECT_EQ(again.at("metrics")[0].at("config").at("top_k"), Json(3));
  EXPECT_EQ(warnings.said, (std::vector<std::string>{
                               "Adam: the config key 'colour' is not known and was ignored",
                               "CosineDecay: the config key 'speed' is not known and was ignored",
                               "Huber: the config key 'depth' is not known and was ignored",
                               "Precision: the config key 'recall' is not known and was ignored"}));
}

// Keras pairs losses and metrics with outputs however deep the lists are.
TEST(CompileConfig, ListsMayBeNested) {
  const TrainingOptions lists = training_options(
      Json::parse(R"({"loss": [["mse"], ["mae"]], "metrics": [["mae"], [["mse"], "mae"]]})"));
  const auto losses = lists.loss.resolve({"a", "b"}, "loss");
  EXPECT_EQ(losses[0]->name(), "mse");
  EXPECT_EQ(losses[1]->name(), "mae");
  EXPECT_EQ(lists.metrics.resolve({"a", "b"}, "metrics")[1].size(), 2U);
  const TrainingOptions one = training_options(Json::parse(R"({"loss": [["mse"]]})"));
  EXPECT_EQ(one.loss.resolve({"a"}, "loss")[0]->name(), "mse");
  const TrainingOptions named = training_options(
      Json::parse(R"({"loss": {"a": ["mse"], "b": null}, "loss_weights": {"a": [2.0]}})"));
  EXPECT_EQ((*named.loss.by_name()).at("a").name(), "mse");
  EXPECT_EQ((*named.loss_weights.by_name()).at("a"), 2.0);
}

// An optimizer of the program's own is made from its config.
TEST(CompileConfig, BindsOptimizers) {
  const CustomTraining custom{
      .optimizers = {{"mine>Slow", [](const Json& config) -> Optimizer {
                        return SGD({.learning_rate = config.at("speed").as_double()});
                      }}}};
  const TrainingOptions options = training_options(
      Json::parse(R"({"optimizer": {"class_name": "Slow", "config": {"speed": 0.25},
                      "registered_name": "mine>Slow"}})"),
      custom);
  EXPECT_EQ(options.optimizer->learning_rate(), 0.25);
}

}  // namespace
}  // namespace keratin::io
