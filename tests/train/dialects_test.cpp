#include <gtest/gtest.h>

#include <cmath>

#include "keratin/keratin.h"
#include "keratin/testing/golden.h"

// Tests masks and weights in losses and metrics by the rules of Keras 2.2 and of Keras 3.
namespace keratin::testing {
namespace {

constexpr int64_t rows = 4, steps = 3, rows_each = 2;
constexpr double epsilon = 1e-7;

// Steps of 0 are masked: two of three in the first row, one in the second, none in other rows.
const Tensor x =
    Tensor::of<double>(DType::f32, {rows, steps, 1}, {1, 0, 0, 2, -1, 0, 3, 1, 2, -2, 1, 4});
const Tensor y =
    Tensor::of<double>(DType::f32, {rows, steps, 1}, {3, 5, 7, 1, 2, -4, 0, 2, 2, 1, -1, 3});
const Tensor weights = Tensor::of<double>(DType::f32, {rows}, {2, 0, 1, 0.5});

Model identity(Dialect dialect) {
  const SymbolicTensor in = Input({steps, 1});
  Model model({.inputs = in, .outputs = Masking({.mask_value = 0})(in), .dialect = dialect});
  model.compile({.optimizer = SGD(),
                 .loss = "mse",
                 .metrics = {"mae"},
                 .weighted_metrics = {Metric(metrics::MeanSquaredError({}, {.name = "wse"}))}});
  return model;
}

// The error of each step, and its mask.
double off(int64_t i) { return x.at(i) - y.at(i); }
double valid(int64_t i) { return x.at(i) != 0 ? 1 : 0; }

// Keras 2.2.5's weighted_masked_objective for one batch.
double keras2_mean(int64_t first_row, double (*score)(int64_t), bool weighted) {
  double share = 0, counted = 0, total = 0;
  for (int64_t i = 0; i < rows_each * steps; ++i)
    share += valid(first_row * steps + i) / (rows_each * steps);
  for (int64_t row = first_row; row < first_row + rows_each; ++row) {
    double mean = 0;
    for (int64_t i = row * steps; i < (row + 1) * steps; ++i)
      mean += score(i) * valid(i) / (share + epsilon) / steps;
    counted += weights.at(row) != 0 ? 1.0 / rows_each : 0;
    total += mean * (weighted ? weights.at(row) : 1) / rows_each;
  }
  return weighted ? total / counted : total;
}

double squared(int64_t i) { return off(i) * off(i); }
double absolute(int64_t i) { return std::abs(off(i)); }

TEST(Dialects, Keras2TakesTheMeanOfEachBatch) {
  Model model = identity(Dialect::keras2);
  const Logs logs =
      model.evaluate(x, y, {.batch_size = rows_each, .verbose = 0, .sample_weight = weights});
  const auto over_batches = [](double (*score)(int64_t), bool weighted) {
    return (keras2_mean(0, score, weighted) + keras2_mean(rows_each, score, weighted)) / 2;
  };
  EXPECT_NEAR(logs.at("loss"), over_batches(squared, true), 1e-5);
  EXPECT_NEAR(logs.at("mae"), over_batches(absolute, false), 1e-5);
  EXPECT_NEAR(logs.at("wse"), over_batches(squared, true), 1e-5);
}

TEST(Dialects, Keras3CountsEveryStepOnce) {
  Model model = identity(Dialect::keras3);
  Tensor of_steps(DType::f32,
                  {rows, steps});  // with a mask of steps, Keras 3 needs weights of steps
  for (int64_t i = 0; i < rows * steps; ++i) of_steps.set(i, weights.at(i / steps));
  const Logs logs =
      model.evaluate(x, y, {.batch_size = rows_each, .verbose = 0, .sample_weight = of_steps});
  double sum = 0, count = 0, weighted = 0, weight = 0;
  for (int64_t i = 0; i < rows * steps; ++i) {
    sum += absolute(i) * valid(i);
    count += valid(i);
    weighted += squared(i) * valid(i) * weights.at(i / steps);
    weight += valid(i) * weights.at(i / steps);
  }
  EXPECT_NEAR(logs.at("mae"), sum / count, 1e-5);
  EXPECT_NEAR(logs.at("wse"), weighted / weight, 1e-5);
}

TEST(Dialects, AgreesWithTfKerasOverOneBatch) {
  for (const Json& record : read_golden("training.keras2.json").as_array()) {
    clear_session();
    Model model(layer_from_json(record.at("config"), {}, Dialect::keras2));
    EXPECT_EQ(model.dialect(), Dialect::keras2);
    std::vector<Tensor> values;
    for (const Json& weight : record.at("weights").as_array())
      values.push_back(golden_tensor(weight));
    model.set_weights(values);
    model.compile({.optimizer = "sgd",
                   .loss = "sparse_categorical_crossentropy",
                   .metrics = {"accuracy"},
                   .weighted_metrics = {"sparse_categorical_crossentropy"}});
    const Logs logs = model.evaluate(golden_tensor(record.at("x")), golden_tensor(record.at("y")),
                                     {.verbose = 0});
    for (const auto& [name, value] : record.at("evaluated").as_object())
      EXPECT_NEAR(logs.at(name), value.as_double(), 1e-5) << name;
  }
}

}  // namespace
}  // namespace keratin::testing
