#include "keratin/io/compile_config.h"

#include <gtest/gtest.h>

#include "keratin/io/keras_file.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/warnings.h"
#include "keratin/train/callback.h"

namespace keratin::io {
namespace {

// Unknown keys of a newer Keras do not prevent training; they are listed in warnings.
TEST(CompileConfig, WarnsOfUnknownKeys) {
  const testing::Warnings warnings;
  const CompileOptions options = training_options(Json::parse(R"({
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
  EXPECT_EQ(warnings.messages,
            (std::vector<std::string>{
                "Adam: the config key 'colour' is not known and was ignored",
                "CosineDecay: the config key 'speed' is not known and was ignored",
                "Huber: the config key 'depth' is not known and was ignored",
                "Precision: the config key 'recall' is not known and was ignored"}));
}

// Keras pairs losses and metrics with outputs however deep the lists are.
TEST(CompileConfig, ReadsNestedLists) {
  const CompileOptions lists = training_options(
      Json::parse(R"({"loss": [["mse"], ["mae"]], "metrics": [["mae"], [["mse"], "mae"]]})"));
  const auto losses = lists.loss.resolve({"a", "b"}, "loss");
  EXPECT_EQ(losses[0]->name(), "mse");
  EXPECT_EQ(losses[1]->name(), "mae");
  EXPECT_EQ(lists.metrics.resolve({"a", "b"}, "metrics")[1].size(), 2U);
  const CompileOptions one = training_options(Json::parse(R"({"loss": [["mse"]]})"));
  EXPECT_EQ(one.loss.resolve({"a"}, "loss")[0]->name(), "mse");
  const CompileOptions named = training_options(
      Json::parse(R"({"loss": {"a": ["mse"], "b": null}, "loss_weights": {"a": [2.0]}})"));
  EXPECT_EQ((*named.loss.by_name()).at("a").name(), "mse");
  EXPECT_EQ((*named.loss_weights.by_name()).at("a"), 2.0);
}

// The user's optimizer is made from its config.
TEST(CompileConfig, BindsOptimizers) {
  const CustomObjectScope scope({{"mine>Slow", [](const Json& config) -> Optimizer {
                                    return SGD({.learning_rate = config.at("speed").as_double()});
                                  }}});
  const CompileOptions options = training_options(
      Json::parse(R"({"optimizer": {"class_name": "Slow", "config": {"speed": 0.25},
                      "registered_name": "mine>Slow"}})"));
  EXPECT_EQ(options.optimizer->learning_rate(), 0.25);
}

CompileOptions training_of(const std::string& json, const CustomObjects& custom = {}) {
  const CustomObjectScope scope(custom);
  return training_options(Json::parse(json));
}

std::string error_of(const std::string& json) {
  try {
    training_of(json);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

// What the message says compiles: see below.
const std::string metric_remedy =
    R"(. If it is yours, say in C++ what it computes, such as load_model(path, {.custom_objects)"
    R"( = {{"shine", Metric([](Value y_true, Value y_pred) { return ops::square(y_true - y_pred);)"
    R"( })}}}); load_model(path, {.compile = false}) leaves training out)";

// The file may have a name, a function, or Keras 2's wrapper around one.
constexpr const char* shines[] = {
    R"({"metrics": ["shine"]})",
    R"({"metrics": [{"module": "builtins", "class_name": "function", "config": "shine",
        "registered_name": "function"}]})",
    R"({"metrics": [{"class_name": "MeanMetricWrapper",
        "config": {"name": "shine", "dtype": "float32", "fn": "shine"}}]})",
};

TEST(CompileConfig, NamesAMetricInErrors) {
  for (const char* json : shines)
    EXPECT_EQ(error_of(json), "Could not interpret metric identifier: shine" + metric_remedy);
}

TEST(CompileConfig, FindsACustomMetricByItsFunction) {
  const LoadOptions options = {.custom_objects = {{"shine", Metric([](Value y_true, Value y_pred) {
                                                     return ops::square(y_true - y_pred);
                                                   })}}};
  for (const char* json : shines)
    EXPECT_EQ(training_of(json, options.custom_objects).metrics.flat().size(), 1U);
}

TEST(CompileConfig, SaysHowToRegisterAClass) {
  const std::string loss = error_of(
      R"({"loss": {"module": "shop", "class_name": "Glow", "config": {}, "registered_name": "shop>Glow"}})");
  for (const char* part : {"loss identifier: Glow. If it is yours, register its class: ",
                           "register_serializable<YourLoss>(\"package\")",
                           "{{\"Glow\", CustomObject::of<YourLoss>()}}"})
    EXPECT_NE(loss.find(part), std::string::npos) << loss;
  const std::string rate = error_of(
      R"({"optimizer": {"class_name": "SGD", "config": {"learning_rate": {"module": "builtins",
          "class_name": "function", "config": "fade", "registered_name": "function"}}}})");
  for (const char* part : {"learning rate schedule identifier: fade.", "[](Value step)"})
    EXPECT_NE(rate.find(part), std::string::npos) << rate;
}

TEST(CompileConfig, NamesALossInErrors) {
  const std::string message = error_of(R"({"loss": "shine"})");
  EXPECT_TRUE(
      message.starts_with("Could not interpret loss identifier: shine. If it is yours, say in "
                          "C++ what it computes, such as load_model(path, {.custom_objects = "
                          "{{\"shine\", Loss([](Value y_true, Value y_pred)"))
      << message;
  const LoadOptions options = {.custom_objects = {{"shine", Loss([](Value y_true, Value y_pred) {
                                                     return ops::square(y_true - y_pred);
                                                   })}}};
  EXPECT_TRUE(training_of(R"({"loss": "shine"})", options.custom_objects).loss.one().has_value());
}

}  // namespace
}  // namespace keratin::io
