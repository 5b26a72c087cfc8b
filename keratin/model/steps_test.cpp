#include <algorithm>

#include <gtest/gtest.h>

#include "keratin/graph/tracer.h"
#include "keratin/keratin.h"
#include "keratin/testing/expect_error.h"

// Steps of the user's own. The numbers are Keras 3.15.1's on TensorFlow, for the same models with
// the steps written in Python.
namespace keratin {
namespace {

using testing::expect_user_error;

Batch line(int64_t rows) {
  Tensor x(DType::f32, {rows, 2}), y(DType::f32, {rows, 1});
  for (int64_t i = 0; i < rows; ++i) {
    const double a = static_cast<double>(i * 7 % 11) / 11, b = static_cast<double>(i * 5 % 13) / 13;
    x.set(2 * i, a);
    x.set(2 * i + 1, b);
    y.set(i, 2 * a - b + 1);
  }
  return {x, y};
}

// -0.3, -0.2, …
Tensor ramp(const Shape& shape) {
  Tensor t(DType::f32, shape);
  for (int64_t i = 0; i < t.count(); ++i) t.set(i, -0.3 + 0.1 * static_cast<double>(i));
  return t;
}

Model perceptron() {
  const SymbolicTensor in = Input({2});
  const auto hidden =
      Dense({.units = 3, .activation = "tanh", .kernel_regularizer = regularizers::L2(0.01)})(in);
  Model model({.inputs = in, .outputs = Dense({.units = 1})(hidden)});
  model.set_weights({ramp({2, 3}), ramp({3}), ramp({3, 1}), ramp({1})});
  return model;
}

void expect_numbers(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 2e-5) << i;
}

std::vector<double> numbers(const std::vector<Tensor>& tensors) {
  std::vector<double> all;
  for (const Tensor& t : tensors)
    for (int64_t i = 0; i < t.count(); ++i) all.push_back(t.at(i));
  return all;
}

struct AddedLoss final : ModelSteps {
  Value compute_loss(StepBuilder& step, const StepBatch& batch,
                     const Tree<Traced>& y_pred) override {
    return ModelSteps::compute_loss(step, batch, y_pred) +
           ops::mean(ops::abs(y_pred.leaf().value)) * 0.1;
  }
};

TEST(Steps, AddALossToTheCompiledOneAsInKeras) {
  Model model = perceptron();
  model.compile({.optimizer = SGD({.learning_rate = 0.1, .momentum = 0.9}),
                 .loss = "mse",
                 .metrics = {"mae"},
                 .steps = std::make_shared<AddedLoss>()});
  const Batch data = line(8);
  const History history =
      model.fit(data.x, data.y, {.batch_size = 3, .epochs = 2, .verbose = 0, .shuffle = false});
  expect_numbers(history["loss"], {1.85939074, 1.59420729});
  expect_numbers(history["mae"], {1.14713085, 0.984841883});
  expect_numbers(numbers({model.get_weights()[0], model.get_weights()[3]}),
                 {-0.567117572, -0.389279902, -0.191240653, 0.0424377844, 0.194750145, 0.252685249,
                  1.28296459});
  const Logs logs = model.evaluate(data.x, data.y, {.batch_size = 3, .verbose = 0});
  EXPECT_NEAR(logs.at("loss"), 0.789470792, 2e-5);
  EXPECT_NEAR(logs.at("mae"), 0.658244908, 2e-5);
}

// The gradient of the prediction by the input, differentiated again by the weights.
struct GradientPenalty final : ModelSteps {
  ValueLogs train_step(StepBuilder& step) override {
    const StepBatch& batch = step.batch();
    const Tree<Traced> y_pred = step.call_model(batch.x);
    const Value slope = gradients(y_pred.leaf().value, {batch.x.leaf()})[0];
    const Value penalty = ops::mean(ops::sum(ops::square(slope), {1}));
    const Value loss = compute_loss(step, batch, y_pred) + penalty * 0.5;
    step.minimize(loss);
    step.track_loss(loss);
    ValueLogs logs = step.compiled_metrics(batch, y_pred);
    logs["penalty"] = penalty;
    return logs;
  }
};

TEST(Steps, PenalizeGradientsAsInKeras) {
  Model model = perceptron();
  model.compile({.optimizer = Adam({.learning_rate = 0.05}),
                 .loss = "mse",
                 .steps = std::make_shared<GradientPenalty>()});
  const Batch data = line(8);
  const History history =
      model.fit(data.x, data.y, {.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false});
  expect_numbers(history["loss"], {2.8335948, 1.92575276});
  expect_numbers(history["penalty"], {0.0289332867, 0.0721551999});
  expect_numbers(numbers({model.get_weights()[0], model.get_weights()[3]}),
                 {-0.497390836, -0.399045706, -0.300113708, -0.195633441, -0.0960122347,
                  0.00448623672, -0.103056878});
}

// A model of two that train against each other.
class GanLayer final : public Layer {
 public:
  GanLayer(LayerPtr discriminator, LayerPtr generator)
      : Layer("Gan", {.name = "gan"}), generator_(std::move(generator)) {
    add_sublayer("discriminator", std::move(discriminator));
    add_sublayer("generator", generator_);
  }
  std::string_view class_name() const override { return "Gan"; }
  LayerPtr fresh_copy() const override { return nullptr; }
  Results call(const Call& c) const override {
    return c.invoke(*generator_, Traced{c.input()}).value;
  }

 private:
  LayerPtr generator_;
};

struct GanSteps final : ModelSteps {
  LayerPtr d, g;
  Optimizer d_optimizer = Adam({.learning_rate = 0.05});
  Optimizer g_optimizer = SGD({.learning_rate = 0.5, .momentum = 0.5});
  Loss loss = losses::BinaryCrossentropy({.from_logits = true});
  Metric d_loss = metrics::Mean(MetricOptions{.name = "d_loss"});
  Metric g_loss = metrics::Mean(MetricOptions{.name = "g_loss"});

  ValueLogs train_step(StepBuilder& step) override {
    const Value noise = step.batch().x.leaf(), real = step.batch().y.leaf();
    const Value zeros = ops::zeros_like(real), ones = zeros + 1.0;
    const Value fake = step.call(g, Tree<Value>(noise)).leaf().value;
    const Value of_both = step.call(d, Tree<Value>(ops::concatenate({fake, real}, 0))).leaf().value;
    const Value d_now = loss(ops::concatenate({ones, zeros}, 0), of_both, {});
    step.minimize(d_now, d_optimizer, d->trainable_weights());
    // From here on the discriminator has its new weights.
    const Value of_fake = step.call(d, step.call(g, Tree<Value>(noise))).leaf().value;
    const Value g_now = loss(zeros, of_fake, {});
    step.minimize(g_now, g_optimizer, g->trainable_weights());
    return {{"d_loss", step.track(d_loss, d_now)}, {"g_loss", step.track(g_loss, g_now)}};
  }
};

struct Gan {
  Sequential d{
      {Input({1}).layer(), Dense({.units = 3, .activation = "tanh"}), Dense({.units = 1})}};
  Sequential g{{Input({2}).layer(), Dense({.units = 1})}};
  Model model{std::make_shared<GanLayer>(d.layer(), g.layer())};
  std::shared_ptr<GanSteps> steps = std::make_shared<GanSteps>();

  Gan() {
    d.set_weights({ramp({1, 3}), ramp({3}), ramp({3, 1}), ramp({1})});
    g.set_weights({ramp({2, 1}), ramp({1})});
    steps->d = d.layer();
    steps->g = g.layer();
    model.compile({.steps = steps});
  }
};

TEST(Steps, TrainTwoModelsWithTwoOptimizersAsInKeras) {
  Gan gan;
  const Batch data = line(8);
  const History history =
      gan.model.fit(data.x, data.y, {.batch_size = 4, .epochs = 3, .verbose = 0, .shuffle = false});
  expect_numbers(history["d_loss"], {0.743658781, 0.70998913, 0.697899699});
  expect_numbers(history["g_loss"], {0.624725342, 0.654256701, 0.672759652});
  std::vector<Tensor> weights = gan.d.get_weights();
  for (const Tensor& t : gan.g.get_weights()) weights.push_back(t);
  expect_numbers(numbers(weights),
                 {-0.0157819763, 0.0597813204, 0.0605734028, -0.563504517, -0.440194458,
                  -0.298426598, -0.0217485353, 0.0493308231, 0.0304247197, -0.0108569972,
                  -0.336813062, -0.233427718, -0.378007859});
  EXPECT_EQ(gan.steps->d_optimizer->iterations(), 6);
  EXPECT_EQ(gan.model.optimizer().iterations(), 0);
  EXPECT_EQ(gan.model.metrics_names(), (std::vector<std::string>{"loss", "d_loss", "g_loss"}));
  EXPECT_EQ(history.history.count("loss"), 0u);
}

// All that the steps change is part of the state, so that backups have it.
TEST(Steps, KeepTheirOptimizersAndMetricsInTheState) {
  Gan gan;
  const Batch data = line(4);
  gan.model.trainer().build(data);
  const std::vector<Variable> state = gan.model.trainer().state();
  const auto has = [&](const Variable& v) {
    return std::find(state.begin(), state.end(), v) != state.end();
  };
  for (const Optimizer& optimizer : {gan.steps->d_optimizer, gan.steps->g_optimizer})
    for (const Variable& v : optimizer->variables()) EXPECT_TRUE(has(v)) << v.path();
  for (const Variable& v : gan.steps->d_loss.variables()) EXPECT_TRUE(has(v));
}

struct Accumulating final : ModelSteps {
  std::vector<Variable> sums;
  Variable count{VariableSpec{.name = "count", .shape = {}, .trainable = false}};

  ValueLogs train_step(StepBuilder& step) override {
    const StepBatch& batch = step.batch();
    const Tree<Traced> y_pred = step.call_model(batch.x);
    const Value loss = compute_loss(step, batch, y_pred);
    step.track_loss(loss);
    const std::vector<Variable> weights = step.model()->trainable_weights();
    Values found = step.gradients(loss, weights);
    for (size_t i = 0; i < weights.size(); ++i) {
      if (sums.size() == i)
        sums.emplace_back(
            VariableSpec{.name = "sum", .shape = weights[i].shape(), .trainable = false});
      step.assign(sums[i], step.read(sums[i]) + found[i]);
      found[i] = step.read(sums[i]) / 2.0;
    }
    step.assign(count, step.read(count) + 1.0);
    const Value due = ops::equal(ops::mod(step.read(count), ops::scalar_like(step.read(count), 2)),
                                 ops::scalar_like(step.read(count), 0));
    step.only_if(due, [&] {
      step.apply(Optimizer(step_optimizer), found, weights);
      for (const Variable& sum : sums) step.assign(sum, ops::zeros_like(step.read(sum)));
    });
    return compute_metrics(step, batch, y_pred);
  }
  Optimizer step_optimizer = Adam({.learning_rate = 0.1});
};

TEST(Steps, AccumulateGradientsAsTheOptimizerDoes) {
  Model own = perceptron(), built_in = perceptron();
  const auto steps = std::make_shared<Accumulating>();
  own.compile({.loss = "mse", .steps = steps});
  built_in.compile({.optimizer = Adam({.learning_rate = 0.1}, {.gradient_accumulation_steps = 2}),
                    .loss = "mse"});
  const Batch data = line(10);
  const FitOptions options{.batch_size = 2, .epochs = 2, .verbose = 0, .shuffle = false};
  expect_numbers(own.fit(data.x, data.y, options)["loss"],
                 built_in.fit(data.x, data.y, options)["loss"]);
  expect_numbers(numbers(own.get_weights()), numbers(built_in.get_weights()));
  EXPECT_EQ(steps->step_optimizer->iterations(), 5);
  // The sums are state that belongs to nothing else.
  const std::vector<Variable> state = own.trainer().state();
  EXPECT_NE(std::find(state.begin(), state.end(), steps->sums[0]), state.end());
}

struct Predicting final : ModelSteps {
  Tree<Traced> predict_step(StepBuilder& step) override {
    const Value y = ModelSteps::predict_step(step).leaf().value;
    return Tree<Traced>::Dict{{"y", Traced{y}}, {"twice", Traced{y * 2.0}}};
  }
};

TEST(Steps, OverridePredict) {
  Model model = perceptron();
  const Batch data = line(7);
  const Tensor before = model.predict(data.x);
  model.compile({.loss = "mse", .steps = std::make_shared<Predicting>()});
  for (const int64_t batch_size : {3, 32}) {
    const Tree<Tensor> found = model.predict(data.x, {.batch_size = batch_size});
    EXPECT_EQ(found["twice"].leaf().shape(), Shape({7, 1}));
    for (int64_t i = 0; i < 7; ++i) {
      EXPECT_FLOAT_EQ(found["y"].leaf().at(i), before.at(i));
      EXPECT_FLOAT_EQ(found["twice"].leaf().at(i), 2 * before.at(i));
    }
  }
  EXPECT_TRUE(model.predict_on_batch(data.x).is_dict());
  // Weights that change are seen, and compiling anew brings Keras's step back.
  model.set_weights(
      {ramp({2, 3}), ramp({3}), ramp({3, 1}), Tensor::of<float>(DType::f32, {1}, {5})});
  EXPECT_NEAR(model.predict(data.x)["y"].leaf().at(0), before.at(0) + 5.3, 1e-5);
  model.compile({.loss = "mse"});
  EXPECT_TRUE(model.predict(data.x).is_leaf());
}

struct OwnMetric final : ModelSteps {
  Metric largest = metrics::Mean(MetricOptions{.name = "largest"});
  ValueLogs compute_metrics(StepBuilder& step, const StepBatch& batch,
                            const Tree<Traced>& y_pred) override {
    step.track(largest, ops::max(y_pred.leaf().value));
    return ModelSteps::compute_metrics(step, batch, y_pred);
  }
};

// Each pass begins anew: metrics of the steps are reset with the model's.
TEST(Steps, TrackMetricsOfTheirOwn) {
  Model model = perceptron();
  const auto steps = std::make_shared<OwnMetric>();
  model.compile({.optimizer = SGD({.learning_rate = 0.0}), .loss = "mse", .steps = steps});
  const Batch data = line(6);
  double expected = 0;
  const Tensor y = model.predict(data.x);
  for (int64_t i = 0; i < 6; ++i) expected = i == 0 ? y.at(i) : std::max(expected, y.at(i));
  const History history = model.fit(data.x, data.y, {.batch_size = 6, .epochs = 2, .verbose = 0});
  expect_numbers(history["largest"], {expected, expected});
  EXPECT_NEAR(model.evaluate(data.x, data.y, {.verbose = 0}).at("largest"), expected, 1e-6);
  EXPECT_NEAR(model.get_metrics_result().at("largest"), expected, 1e-6);
  model.reset_metrics();
  EXPECT_EQ(model.get_metrics_result().at("largest"), 0);
}

struct Noise final : ModelSteps {
  ValueLogs test_step(StepBuilder& step) override {
    const Value key = step.random_key(4);
    return {{"noise", ops::mean(ops::random_uniform(key, DType::f32, {4}))}};
  }
};

TEST(Steps, DrawNewRandomNumbersInEachStep) {
  set_random_seed(3);
  Model model = perceptron();
  model.compile({.steps = std::make_shared<Noise>()});
  const Batch data = line(4);
  const double first = model.test_on_batch(data.x, data.y).at("noise");
  EXPECT_NE(model.test_on_batch(data.x, data.y).at("noise"), first);
  set_random_seed(3);
  Model again = perceptron();
  again.compile({.steps = std::make_shared<Noise>()});
  EXPECT_EQ(again.test_on_batch(data.x, data.y).at("noise"), first);
}

// The steps without any override are Keras's own, to the last bit.
TEST(Steps, AreKerasByDefault) {
  Model plain = perceptron(), with_steps = perceptron();
  plain.compile({.optimizer = Adam({.learning_rate = 0.1}), .loss = "mse", .metrics = {"mae"}});
  with_steps.compile({.optimizer = Adam({.learning_rate = 0.1}),
                      .loss = "mse",
                      .metrics = {"mae"},
                      .steps = std::make_shared<ModelSteps>()});
  const Batch data = line(10);
  const FitOptions options{.batch_size = 4, .epochs = 3, .verbose = 0, .shuffle = false};
  EXPECT_EQ(plain.fit(data.x, data.y, options).history,
            with_steps.fit(data.x, data.y, options).history);
  EXPECT_EQ(numbers(plain.get_weights()), numbers(with_steps.get_weights()));
}

// The same steps train a model on several devices, with mirrored variables too.
TEST(Steps, TrainReplicas) {
  set_logical_devices("cpu", 3);
  const auto trained = [](std::optional<bool> mirrors, std::shared_ptr<ModelSteps> steps) {
    Model model = perceptron();
    if (mirrors)
      model = distribute::distribute(
          model,
          distribute::DataParallel({.devices = {"cpu:1", "cpu:2"}, .mirror_variables = *mirrors}));
    model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse", .steps = steps});
    const Batch data = line(8);
    std::vector<double> found = model.fit(
        data.x, data.y, {.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false})["loss"];
    for (const double w : numbers(model.get_weights())) found.push_back(w);
    const Tree<Tensor> predicted = model.predict(data.x);
    if (predicted.is_dict()) found.push_back(predicted["twice"].leaf().at(7));
    return found;
  };
  for (const bool mirrors : {false, true}) {
    expect_numbers(trained(mirrors, std::make_shared<AddedLoss>()),
                   trained({}, std::make_shared<AddedLoss>()));
    expect_numbers(trained(mirrors, std::make_shared<Predicting>()),
                   trained({}, std::make_shared<Predicting>()));
  }
  set_logical_devices("cpu", 1);
}

// A step from a function, for the tests of errors.
struct StepOf final : ModelSteps {
  std::function<ValueLogs(StepBuilder&)> write;
  explicit StepOf(std::function<ValueLogs(StepBuilder&)> w) : write(std::move(w)) {}
  ValueLogs train_step(StepBuilder& step) override { return write(step); }
};

void expect_step_error(std::function<ValueLogs(StepBuilder&)> write, const std::string& message) {
  Model model = perceptron();
  model.compile({.loss = "mse", .steps = std::make_shared<StepOf>(std::move(write))});
  const Batch data = line(4);
  expect_user_error([&] { model.train_on_batch(data.x, data.y); }, message);
}

TEST(Steps, RefuseWhatIsNoStep) {
  const auto predicted = [](StepBuilder& s) { return s.call_model(s.batch().x).leaf().value; };
  expect_step_error(
      [&](StepBuilder& s) {
        return ValueLogs{{"p", predicted(s)}};
      },
      "train_step: 'p' must be a scalar, got f32[4,1]");
  expect_step_error(
      [](StepBuilder&) {
        return ValueLogs{{"p", Value()}};
      },
      "train_step: 'p' must be a scalar, got an undefined value");
  expect_step_error(
      [&](StepBuilder& s) -> ValueLogs {
        s.gradients(predicted(s), s.model()->trainable_weights());
        return {};
      },
      "gradients: expected a scalar loss of floats, got f32[4,1]");
  expect_step_error(
      [&](StepBuilder& s) -> ValueLogs {
        s.apply(Optimizer("sgd"), {}, s.model()->trainable_weights());
        return {};
      },
      "apply: expected a gradient for each of 4 variables, got 0");
  expect_step_error(
      [&](StepBuilder& s) -> ValueLogs {
        s.minimize(ops::mean(predicted(s)), Optimizer(nullptr), s.model()->trainable_weights());
        return {};
      },
      "minimize: expected an optimizer, got none");
  expect_step_error(
      [&](StepBuilder& s) -> ValueLogs {
        s.only_if(predicted(s), [] {});
        return {};
      },
      "only_if: expected a bool scalar as condition, got f32[4,1]");
  expect_step_error(
      [&](StepBuilder& s) -> ValueLogs {
        s.call(LayerPtr(), s.batch().x);
        return {};
      },
      "step: expected a layer to call, got a null pointer");
  expect_step_error(
      [&](StepBuilder& s) -> ValueLogs {
        s.track_loss(predicted(s));
        return {};
      },
      "track_loss: expected a scalar, got f32[4,1]");
  expect_step_error(
      [&](StepBuilder& s) -> ValueLogs {
        const Traced p{predicted(s)};
        return s.compiled_metrics(s.batch(), Tree<Traced>(Tree<Traced>::List{p, p}));
      },
      "2");
}

TEST(Steps, NameAnOptimizerWithOtherVariables) {
  const Optimizer optimizer = "sgd";
  expect_step_error(
      [&](StepBuilder& s) -> ValueLogs {
        const auto weights = s.model()->trainable_weights();
        const Value loss = ops::mean(s.call_model(s.batch().x).leaf().value);
        s.minimize(loss, optimizer, weights);
        s.minimize(loss, optimizer, {weights[0]});
        return {};
      },
      "it was built for 4 variables");
}

}  // namespace
}  // namespace keratin
