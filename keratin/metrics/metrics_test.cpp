#include "keratin/metrics/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/testing/check_metric.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

using testing::check_metric;
using testing::expect_user_error;

class AllMetrics : public ::testing::TestWithParam<std::string> {};
TEST_P(AllMetrics, GiveKerasResultsAndState) { check_metric(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Metrics, AllMetrics,
    ::testing::ValuesIn(testing::golden_classes(testing::read_golden("metrics.json"), "results")),
    [](const auto& test) { return test.param; });

TEST(Metrics, HaveGoldenCases) {
  EXPECT_GE(testing::golden_classes(testing::read_golden("metrics.json"), "results").size(), 45U);
}

Tensor floats(Shape shape, const std::vector<double>& values) {
  return Tensor::of(DType::f32, std::move(shape), values);
}

TEST(Metrics, AreFoundByEveryNameOfKeras) {
  const Json golden = testing::read_golden("metrics.json");
  const Json& defaults = golden.at("defaults");
  for (const auto& [name, found] : golden.at("names").as_object()) {
    SCOPED_TRACE(name);
    const std::string& class_name = found.as_string();
    const Json& expected = defaults.at(class_name);
    if (expected.is_null()) {  // needs arguments
      EXPECT_THROW(Metric{name}, UserError);
      continue;
    }
    const Metric metric(name);
    EXPECT_EQ(metric.name(), name);
    EXPECT_EQ(metric.to_json(), Json(name));
    EXPECT_EQ(Metric::from_json(name).name(), name);
    EXPECT_TRUE(class_name == "Accuracy" || metric.state().class_name() == class_name);
    EXPECT_EQ(Metric::from_json(Json::Object{{"class_name", class_name}}).to_json(), expected);
  }
}

TEST(Metrics, ChooseAnAccuracyByShapes) {
  const Tensor one = floats({2, 1}, {0.2, 0.7});
  const Tensor two = floats({2, 2}, {0.2, 0.8, 0.4, 0.6});
  const Tensor numbers = Tensor::of<int>(DType::i32, {2}, {1, 0});
  for (const char* name : {"accuracy", "acc", "Accuracy"}) {
    const Metric binary(name), sparse(name), column(name), one_hot(name);
    EXPECT_EQ(binary(numbers, one).at(0), 0);
    EXPECT_EQ(sparse(numbers, two).at(0), 0.5);
    EXPECT_EQ(column(numbers.reshape({2, 1}), two).at(0), 0.5);
    EXPECT_EQ(one_hot(floats({2, 2}, {0, 1, 1, 0}), two).at(0), 0.5);
    EXPECT_EQ(binary.name(), name);
  }
}

TEST(Metrics, AccumulateBatchesAndReset) {
  const metrics::AUC auc({.num_thresholds = 3});
  EXPECT_EQ(auc(floats({4}, {0, 0, 1, 1}), floats({4}, {0, 0.5, 0.3, 0.9})).at(0), 0.75);
  auc.update_state(floats({2}, {1, 0}), floats({2}, {0.8, 0.1}));
  EXPECT_NEAR(auc.result().at(0), 5.0 / 6, 1e-6);
  auc.reset_state();
  EXPECT_EQ(auc.result().at(0), 0);
  const Metric copy = auc;
  copy.update_state(floats({2}, {1, 0}), floats({2}, {0.8, 0.1}));
  EXPECT_EQ(auc.result().at(0), 1) << "copies share their state";
  const Metric fresh(auc.state().fresh_copy());
  EXPECT_EQ(fresh.result().at(0), 0);
}

TEST(Metrics, TakeValuesAlone) {
  const metrics::Mean mean;
  mean.update_state(floats({2}, {1, 3}));
  EXPECT_EQ(mean(floats({2}, {5, 7}), floats({2}, {1, 0})).at(0), 3);
  const metrics::Sum sum(MetricOptions{.name = "total"});
  EXPECT_EQ(sum(floats({}, {2.5})).at(0), 2.5);
  EXPECT_EQ(sum.name(), "total");
}

TEST(Metrics, TakeAnyCallable) {
  const Metric worst([](Value t, Value p) { return ops::max(ops::abs(t - p), {-1}); },
                     {.name = "worst"});
  EXPECT_EQ(worst(floats({2, 2}, {0, 1, 2, 3}), floats({2, 2}, {0, 0, 0, 0})).at(0), 2);
  EXPECT_EQ(worst.name(), "worst");
  expect_user_error([&] { worst.to_json(); }, "function of the program");
  EXPECT_EQ(worst.state().direction(), Direction::none);
  const Metric huber("huber");
  EXPECT_EQ(huber(floats({1, 1}, {0}), floats({1, 1}, {3})).at(0), 2.5);
  EXPECT_TRUE(huber.state().lower_is_better());
}

TEST(Metrics, RecoverFromNaN) {
  const metrics::AUC auc({.num_thresholds = 5});
  auc.update_state(floats({2}, {1, 0}), floats({2}, {std::nan(""), 0.3}));
  EXPECT_TRUE(std::isfinite(auc.result().at(0)));
  const metrics::TopKCategoricalAccuracy top({.k = 1});
  EXPECT_EQ(top(floats({1, 2}, {1, 0}), floats({1, 2}, {std::nan(""), 0.3})).at(0), 0);
}

TEST(Metrics, KeepTheirStateInTheirDtype) {
  const metrics::MeanSquaredError precise({}, {.dtype = DType::f64});
  EXPECT_EQ(precise(floats({1, 1}, {0}), floats({1, 1}, {3})).dtype(), DType::f64);
  EXPECT_EQ(precise.to_json().at("config").at("dtype"), Json("float64"));
  const metrics::MeanIoU counts({.num_classes = 2});
  EXPECT_EQ(counts.variables()[0].dtype(), DType::i32);
  EXPECT_EQ(Metric::from_json(precise.to_json()).state().dtype(), DType::f64);
}

TEST(Metrics, BuildOnce) {
  const metrics::F1Score score;
  score.update_state(floats({1, 2}, {0, 1}), floats({1, 2}, {0.1, 0.9}));
  score.state().build({1, 2}, {1, 2});
  EXPECT_EQ(score.variables().size(), 4U);
}

TEST(Metrics, RefuseBadArgumentsInKerasWords) {
  using namespace metrics;
  const auto zeros = [](Shape shape) { return Tensor::zeros(DType::f32, std::move(shape)); };
  expect_user_error([] { Metric("me"); }, "Could not interpret metric identifier: me");
  expect_user_error(
      [] {
        Precision({.thresholds = {{0.5, 1.5, -1}}});
      },
      "Threshold values must be in [0, 1]. Received: [1.5, -1]");
  expect_user_error([&] { Recall({.class_id = 1})(zeros({2}), zeros({2})); },
                    "When class_id is provided, y_pred must be a 2D array with shape "
                    "(num_samples, num_classes), found shape: (2,)");
  expect_user_error([] { SensitivityAtSpecificity({.specificity = 2}); },
                    "Argument `specificity` must be in the range [0, 1]. Received: specificity=2");
  expect_user_error([] { RecallAtPrecision({.precision = -1}); },
                    "Argument `precision` must be in the range [0, 1]. Received: precision=-1");
  expect_user_error([] { PrecisionAtRecall({.recall = 0.5, .num_thresholds = 0}); },
                    "Argument `num_thresholds` must be an integer > 0. Received: num_thresholds=0");
  expect_user_error([] { AUC({.num_thresholds = 1}); },
                    "Argument `num_thresholds` must be an integer > 1. Received: num_thresholds=1");
  expect_user_error([] { AUC({.curve = "Roc"}); },
                    "Invalid AUC curve value: \"Roc\". Expected values are [\"PR\", \"ROC\", "
                    "\"PRGAIN\"]");
  expect_user_error([] { AUC({.summation_method = "sum"}); },
                    "Invalid AUC summation method value: \"sum\". Expected values are "
                    "[\"interpolation\", \"majoring\", \"minoring\"]");
  expect_user_error([] { AUC({.num_labels = 2}); },
                    "`num_labels` is needed only when `multi_label` is True.");
  expect_user_error(
      [&] {
        AUC({.multi_label = true})
        (zeros({2}), zeros({2}));
      },
      "`y_pred` must have rank 2 when `multi_label=True`. Found rank 1. Full shape "
      "received for `y_pred`: (2,)");
  expect_user_error([] { F1Score({.average = "mean"}); },
                    "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', "
                    "'weighted'}. Received: average=mean");
  expect_user_error([] { FBetaScore({.beta = 0}); },
                    "Invalid `beta` argument value. It should be > 0. Received: beta=0");
  expect_user_error([] { F1Score({.threshold = 1.5}); },
                    "Invalid `threshold` argument value. It should verify 0 < threshold <= 1. "
                    "Received: threshold=1.5");
  expect_user_error([&] { F1Score()(zeros({2}), zeros({2})); },
                    "FBetaScore expects 2D inputs with shape (batch_size, output_dim). Received "
                    "input shapes: y_pred.shape=(2,) and y_true.shape=(2,).");
  expect_user_error([] { R2Score({.class_aggregation = "sum"}); },
                    "Invalid value for argument `class_aggregation`. Expected one of (None, "
                    "'uniform_average', 'variance_weighted_average'). Received: "
                    "class_aggregation=sum");
  expect_user_error([] { R2Score({.num_regressors = -1}); },
                    "Invalid value for argument `num_regressors`. Expected a value >= 0. "
                    "Received: num_regressors=-1");
  expect_user_error([&] { R2Score()(zeros({2}), zeros({2})); },
                    "R2Score expects 2D inputs with shape (batch_size, output_dim). Received "
                    "input shapes: y_pred.shape=(2,) and y_true.shape=(2,).");
  expect_user_error(
      [] {
        IoU({.num_classes = 2, .target_class_ids = {0, 2}});
      },
      "Target class id 2 is out of range, which is [0, 2).");
  expect_user_error([] { R2Score().result(); }, "no result before the first update");
  expect_user_error(
      [] {
        Metric::from_json(
            Json::parse(R"({"class_name": "AUC", "config": {"num_thresholds": []}})"));
      },
      {"AUC", "'num_thresholds'"});
}

}  // namespace
}  // namespace keratin
