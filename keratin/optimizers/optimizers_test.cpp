#include "keratin/optimizers/optimizers.h"

#include <gtest/gtest.h>

#include "keratin/graph/named.h"
#include "keratin/optimizers/registry.h"
#include "keratin/testing/check_optimizer.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using testing::read_golden;

class Optimizers : public ::testing::TestWithParam<std::string> {};

TEST_P(Optimizers, BehaveAsInKeras) { testing::check_optimizer(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, Optimizers,
                         ::testing::ValuesIn(testing::golden_classes("optimizers")),
                         [](const auto& info) { return info.param; });

TEST(OptimizerNames, HaveGoldenCases) {
  EXPECT_GE(testing::golden_classes("optimizers").size(), 16U);
}

// An optimizer made by its name, in any case, has Keras's default arguments.
TEST(OptimizerNames, GiveKerasDefaults) {
  for (const std::string& name : testing::golden_classes("optimizers")) {
    if (name == "LossScaleOptimizer" || name == "MultiOptimizer") continue;  // need an optimizer
    const Json golden = read_golden("optimizers/" + name + ".json").as_array().at(0);
    ASSERT_EQ(golden.at("name"), Json("defaults"));
    clear_session();
    EXPECT_EQ(Optimizer(name).to_json(), golden.at("config"));
    EXPECT_EQ(Optimizer(lower_case(name))->class_name(), name);
  }
}

TEST(OptimizerNames, AreUniqueForInstances) {
  clear_session();
  EXPECT_EQ(Adam()->name(), "adam");
  EXPECT_EQ(AdamW()->name(), "adam_w");
  EXPECT_EQ(Adam()->name(), "adam_1");
  EXPECT_EQ(RMSprop()->variables()[0].path(), "rm_sprop/iteration");
  EXPECT_EQ(Adam({}, {.name = "mine"})->variables()[1].path(), "mine/learning_rate");
}

TEST(OptimizerNames, RefuseUnknownNames) {
  expect_user_error([] { Optimizer("adamm"); }, "Could not interpret optimizer identifier: adamm");
  expect_user_error(
      [] {
        LearningRate::from_json(Json::Object{{"class_name", "Sine"}});
      },
      "Could not interpret learning rate schedule identifier: Sine");
}

// Values are refused where Keras refuses them, in its words, and only there.
TEST(OptimizerErrors, HaveKerasWords) {
  for (const Json& golden : read_golden("optimizers/errors.json").as_array()) {
    SCOPED_TRACE(golden.dump());
    const auto make = [&] {
      const Named named = Named::from_json(golden);
      if (named.class_name.find("Decay") != std::string::npos)
        schedule_by_name(named);
      else
        optimizer_by_name(named);
    };
    if (golden.at("message").is_null())
      EXPECT_NO_THROW(make());
    else
      expect_user_error(make, golden.at("message").as_string());
  }
}

TEST(OptimizerConfigs, AreKeywordArguments) {
  const RMSprop optimizer({.learning_rate = 0.5, .rho = 0.25}, {.clipnorm = 1});
  const Json config = optimizer->get_config();
  EXPECT_EQ(config["learning_rate"], Json(0.5));
  EXPECT_EQ(config["rho"], Json(0.25));
  EXPECT_EQ(config["clipnorm"], Json(1));
  EXPECT_EQ(config["momentum"], Json(0));
}

TEST(OptimizerConfigs, TakeWeightDecayFromConfigOrOptions) {
  EXPECT_EQ(AdamW()->get_config()["weight_decay"], Json(0.004));
  EXPECT_EQ(AdamW({.weight_decay = 0.5})->options().weight_decay, 0.5);
  EXPECT_EQ(AdamW({}, {.weight_decay = 0.25})->get_config()["weight_decay"], Json(0.25));
  EXPECT_EQ(Muon({.weight_decay = std::nullopt})->get_config()["weight_decay"], Json());
  EXPECT_EQ(Adam()->get_config()["weight_decay"], Json());
}

TEST(LossScale, ForwardsToTheInnerOptimizer) {
  expect_user_error([] { LossScaleOptimizer({.inner_optimizer = SGD()}, {.clipnorm = 1}); },
                    "LossScaleOptimizer does not support `clipnorm`.");
  expect_user_error([] { LossScaleOptimizer({.inner_optimizer = SGD(), .dynamic = false}); },
                    "LossScaleOptimizer no longer supports `dynamic=False`.");
  expect_user_error([] { LossScaleOptimizer(); }, "`inner_optimizer`");
  const SGD inner({.learning_rate = 0.5}, {.loss_scale_factor = 4});
  const LossScaleOptimizer outer({.inner_optimizer = inner});
  EXPECT_EQ(inner->options().loss_scale_factor, std::nullopt);
  outer->set_learning_rate(0.25);
  EXPECT_EQ(inner->learning_rate(), 0.25);
}

TEST(MultiOptimizer, RefusesWhatKerasRefuses) {
  using Map = std::vector<std::pair<std::string, Optimizer>>;
  const auto multi = [](const Map& map) {
    return MultiOptimizer({.optimizer_map = {.default_optimizer = Adam(), .optimizer_map = map}});
  };
  expect_user_error([&] { multi({})->learning_rate(); },
                    "Learning rate cannot be accessed on a MultiOptimizer.");
  expect_user_error([&] { multi({})->set_learning_rate(1); },
                    "Learning rate cannot be set on a MultiOptimizer.");
  const LossScaleOptimizer scaled({.inner_optimizer = SGD()});
  expect_user_error(
      [&] {
        multi({{"a", scaled}});
      },
      "LossScaleOptimizer cannot be used inside an MultiOptimizer.");
  expect_user_error(
      [&] {
        multi({{"a", multi({})}});
      },
      "MultiOptimizer cannot be used inside an MultiOptimizer.");
  expect_user_error([&] { MultiOptimizer(); }, "`default_optimizer`");
  expect_user_error(
      [&] {
        testing::OptimizerRun(multi({{"net.*", SGD()}, {".*gain", SGD()}}));
      },
      "Multiple optimizers assigned to variable net/gain.");
  expect_user_error([&] { testing::OptimizerRun(multi({{"(", SGD()}})); }, "no regular expression");
}

}  // namespace
}  // namespace keratin
