#include "keratin/optimizers/schedules.h"

#include <gtest/gtest.h>

#include "keratin/engine/evaluate.h"
#include "keratin/ops/pointwise.h"
#include "keratin/testing/check_optimizer.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(Schedules, GiveKerasRates) {
  for (const Json& golden : testing::read_golden("optimizers/schedules.json").as_array()) {
    SCOPED_TRACE(golden.at("name").as_string());
    const LearningRate rate = LearningRate::from_json(golden.at("config"));
    EXPECT_EQ(rate.to_json(), golden.at("config"));
    const Tensor steps = testing::golden_tensor(golden.at("steps")).cast(DType::f32);
    for (const char* backend : {"cpu", "reference"}) {
      const Tensor rates =
          evaluate({steps}, [&](const Values& in) { return rate.at(in[0]); }, {.backend = backend});
      testing::expect_near(rates, testing::golden_tensor(golden.at("rates")), 5e-7, backend);
    }
  }
}

TEST(Schedules, AreKeywordArguments) {
  const LearningRate rate =
      schedules::PolynomialDecay{.initial_learning_rate = 0.5, .decay_steps = 10};
  const Json config = rate.to_json()["config"];
  EXPECT_EQ(config["end_learning_rate"], Json(0.0001));
  EXPECT_EQ(config["power"], Json(1));
  EXPECT_EQ(config["name"], Json("PolynomialDecay"));
}

TEST(Schedules, RefuseBadNumbersWhenMade) {
  expect_user_error([] { LearningRate(schedules::CosineDecay{.initial_learning_rate = 0.1}); },
                    "Argument `decay_steps` must be > 0. Received: decay_steps=0");
}

}  // namespace
}  // namespace keratin
