#include "keratin/io/keras2_config.h"

#include <gtest/gtest.h>

#include "keratin/io/compile_config.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/warnings.h"

namespace keratin::io {
namespace {

Optimizer optimizer_of(const char* envelope) {
  const Json config = Json::Object{{"optimizer", Json::parse(envelope)}, {"loss", "mse"}};
  return training_options(from_keras2(config)).optimizer;
}

double rate_at(const Optimizer& optimizer, int64_t step) {
  if (!optimizer->built()) optimizer->build({});
  optimizer->variables()[0].assign(Tensor::full(DType::i32, {}, static_cast<double>(step)));
  return optimizer->learning_rate();
}

// Keras 1 and 2 divide the rate by 1 + decay · steps.
TEST(Keras2Config, ReadsDecayAsASchedule) {
  const Optimizer sgd = optimizer_of(R"({"class_name": "SGD", "config": {
      "lr": 0.5, "momentum": 0.25, "decay": 0.1, "nesterov": true}})");
  EXPECT_EQ(sgd->class_name(), "SGD");
  EXPECT_EQ(sgd->get_config().at("momentum"), Json(0.25));
  EXPECT_NEAR(rate_at(sgd, 0), 0.5, 1e-7);
  EXPECT_NEAR(rate_at(sgd, 1), 0.5 / 1.1, 1e-7);
  EXPECT_NEAR(rate_at(sgd, 30), 0.5 / 4, 1e-7);
}

TEST(Keras2Config, ReadsRatesWithoutDecayAsNumbers) {
  const Optimizer adam = optimizer_of(R"({"class_name": "Adam", "config": {
      "lr": 0.125, "beta_1": 0.8, "beta_2": 0.9, "decay": 0.0, "epsilon": null}})");
  EXPECT_EQ(adam->get_config().at("learning_rate"), Json(0.125));
  EXPECT_EQ(adam->get_config().at("beta_1"), Json(0.8));
  EXPECT_EQ(adam->get_config().at("epsilon"), Json(1e-7));
  const Optimizer nadam = optimizer_of(R"({"class_name": "Nadam", "config": {
      "lr": 0.25, "schedule_decay": 0.004}})");
  EXPECT_EQ(nadam->get_config().at("learning_rate"), Json(0.25));
}

// As tf_keras writes them into .h5 files; so are classes that users register without a package.
TEST(Keras2Config, ReadsOptimizersInTheDefaultPackage) {
  const char* const adam = R"({"class_name": "Custom>Adam", "config": {"beta_1": 0.8}})";
  EXPECT_EQ(optimizer_of(adam)->get_config().at("beta_1"), Json(0.8));
  const Optimizer scaled = optimizer_of(R"({"class_name": "LossScaleOptimizer", "config": {
      "inner_optimizer": {"class_name": "Custom>SGD", "config": {"momentum": 0.25}}}})");
  EXPECT_EQ(scaled->get_config().at("inner_optimizer").at("class_name"), Json("SGD"));
  const CustomObjectScope scope({{"Custom>Adam", [](const Json&) -> Optimizer { return SGD(); }}});
  EXPECT_EQ(optimizer_of(adam)->class_name(), "SGD");
}

// No schedule of Keras combines another schedule with a decay.
TEST(Keras2Config, IgnoresDecayBesideAScheduleAndWarns) {
  const testing::Warnings warnings;
  const Optimizer sgd = optimizer_of(R"({"class_name": "SGD", "config": {"decay": 0.1,
      "learning_rate": {"class_name": "ExponentialDecay", "config": {
          "initial_learning_rate": 0.5, "decay_steps": 1, "decay_rate": 0.5}}}})");
  ASSERT_EQ(warnings.messages.size(), 1U);
  EXPECT_NE(warnings.messages[0].find("its `decay` of 0.1"), std::string::npos)
      << warnings.messages[0];
  EXPECT_NEAR(rate_at(sgd, 2), 0.125, 1e-7);
}

TEST(Keras2Config, IgnoresDecayInConfigsOfKeras3) {
  const testing::Warnings warnings;
  const Optimizer sgd = Optimizer::from_json(
      Json::parse(R"({"class_name": "SGD", "config": {"learning_rate": 1, "decay": 0.1}})"));
  EXPECT_EQ(sgd->get_config().at("learning_rate"), Json(1));
  EXPECT_EQ(warnings.messages,
            std::vector<std::string>{"SGD: the config key 'decay' is not known and was ignored"});
}

}  // namespace
}  // namespace keratin::io
