#include <gtest/gtest.h>

#include "keratin/base/warning.h"
#include "keratin/graph/tracer.h"
#include "keratin/ops/pointwise.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/check_optimizer.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/warnings.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using testing::OptimizerRun;

std::vector<Tensor> weights(const OptimizerRun& run) {
  std::vector<Tensor> values;
  for (const Variable& v : run.variables()) values.push_back(v.value().clone());
  return values;
}

TEST(OptimizerState, TakesANewRateWithoutCompilingAgain) {
  const SGD optimizer({.learning_rate = 0.5});
  OptimizerRun run(optimizer);
  optimizer->set_learning_rate(0);
  const std::vector<Tensor> before = weights(run);
  run.step();
  EXPECT_EQ(weights(run), before);
  EXPECT_EQ(optimizer->iterations(), 1);
  optimizer->set_learning_rate(0.25);
  EXPECT_EQ(optimizer->learning_rate(), 0.25);
  EXPECT_EQ(optimizer->get_config()["learning_rate"], Json(0.25));
  run.step();
  EXPECT_NE(weights(run), before);
}

TEST(OptimizerState, RefusesToSetTheRateOfASchedule) {
  const SGD optimizer({.learning_rate = schedules::ExponentialDecay{
                           .initial_learning_rate = 0.5, .decay_steps = 1, .decay_rate = 0.5}});
  EXPECT_EQ(optimizer->variables().size(), 1u);
  expect_user_error([&] { optimizer->set_learning_rate(1); },
                    {"created with a `LearningRateSchedule`", "not settable"});
  OptimizerRun run(optimizer);
  EXPECT_EQ(optimizer->learning_rate(), 0.5);
  run.steps(2);
  EXPECT_EQ(optimizer->learning_rate(), 0.125);
}

TEST(OptimizerState, FollowsAnyFunctionOfTheStep) {
  const SGD falling({.learning_rate = [](Value step) { return 1.0 / (step + 4.0); }});
  EXPECT_EQ(falling->learning_rate(), 0.25);
  OptimizerRun run(falling);
  run.steps(4);
  EXPECT_EQ(falling->learning_rate(), 0.125);
  const testing::Warnings warnings;
  EXPECT_EQ(falling->get_config().at("learning_rate").at("config"), Json("custom_schedule"));
  ASSERT_EQ(warnings.messages.size(), 1U) << "files have its name alone";
}

TEST(OptimizerState, IsBuiltOnceForItsVariables) {
  const SGD optimizer;
  const OptimizerRun run(optimizer);
  optimizer->build(run.variables());
  EXPECT_EQ(optimizer->variables().size(), 2u);
  Variable stranger({.name = "kernel", .shape = {2}});
  stranger.set_path("other/kernel");
  expect_user_error([&] { optimizer->build({stranger}); },
                    {"Unknown variable: other/kernel", "originally built with"});
  expect_user_error([&] { optimizer->build({run.variables()[0]}); },
                    "it was built for 7 variables, and trains all of them, got 1");
  expect_user_error(
      [&] { optimizer->exclude_from_weight_decay({"bias"}); },
      "`exclude_from_weight_decay()` can only be configured before the optimizer is built.");
}

TEST(OptimizerState, NeedsAGradient) {
  expect_user_error(
      [] {
        OptimizerRun(SGD(), {.missing = {0, 1, 2, 3, 4, 5, 6}});
      },
      "No gradients provided for any variable.");
}

// Without a gradient, weights neither decay nor are constrained.
TEST(OptimizerState, LeavesWeightsWithoutAGradient) {
  std::string messages;
  const auto before_us =
      set_warning_handler([&](const std::string& message) { messages += message; });
  OptimizerRun run(SGD({}, {.weight_decay = 0.5}), {.constraint = "non_neg", .missing = {2}});
  set_warning_handler(before_us);
  EXPECT_EQ(messages.find("Gradients do not exist for variables ['dense/kernel'] when minimizing"),
            0u);
  const std::vector<Tensor> before = weights(run);
  run.step();
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(weights(run)[i] == before[i], i == 2) << run.variables()[i].path();
}

// With gradients of almost 0, only weight decay changes a weight.
TEST(OptimizerState, ExcludesVariablesFromWeightDecay) {
  const std::vector<Variable> variables = OptimizerRun(SGD()).variables();
  const SGD decaying({}, {.weight_decay = 0.5});
  decaying->exclude_from_weight_decay({variables[2]});
  decaying->build(variables);
  Module module;
  Tracer tracer(module, true);
  Values gradients;
  for (const Variable& v : variables) gradients.push_back(tracer.read(v) * 0.0);
  decaying->apply(tracer, gradients);
  tracer.finish();
  std::vector<Tensor> state, before;
  for (const Variable& v : variables) before.push_back(v.value().clone());
  for (const Variable& v : tracer.variables()) state.push_back(v.value());
  compile(std::move(module))(state);
  for (size_t i = 0; i < variables.size(); ++i)
    EXPECT_EQ(variables[i].value() == before[i], i == 2) << variables[i].path();
}

// Steps with gradients that are not finite change no bit, in the inner optimizer's moments neither.
// A config as tf_keras writes it into .h5 files.
TEST(OptimizerState, ReadsConfigsOfKeras2) {
  const Optimizer adam = Optimizer::from_json(Json::parse(R"({
    "class_name": "Adam",
    "config": {"name": "Adam", "learning_rate": 0.02, "decay": 0.0, "beta_1": 0.8,
               "jit_compile": false, "is_legacy_optimizer": false}})"));
  EXPECT_EQ(adam->class_name(), "Adam");
  EXPECT_EQ(adam->get_config().at("beta_1"), Json(0.8));
}

TEST(LossScale, SkipsStepsThatAreNotFinite) {
  const Adam inner({.learning_rate = 0.1});
  const LossScaleOptimizer optimizer({.inner_optimizer = inner, .initial_scale = 8});
  OptimizerRun run(optimizer);
  run.step();
  const auto state = [&] {
    std::vector<Tensor> values = weights(run);
    for (const Variable& v : inner->variables()) values.push_back(v.value().clone());
    return values;
  };
  const auto before = state();
  run.step(false);
  EXPECT_EQ(state(), before);
  EXPECT_EQ(optimizer->iterations(), 1);
  const std::vector<Variable> own = optimizer->variables();
  EXPECT_EQ(own[2].value().at(0), 0);
  EXPECT_EQ(own[3].value().at(0), 4);
  run.step();
  EXPECT_NE(state(), before);
}

TEST(OptimizerState, RepeatsStepsBitForBit) {
  const auto result = [] {
    OptimizerRun run(Adam({.learning_rate = 0.1}, {.global_clipnorm = 1}));
    run.steps(20);
    return weights(run);
  };
  EXPECT_EQ(result(), result());
}

}  // namespace
}  // namespace keratin
