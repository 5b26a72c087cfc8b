// Models trained for twenty steps on one device and on replicas have the same outputs and the same
// weights, for all batches, numbers of devices, and devices of weights and outputs.
//
// A GPU rounds differently from a CPU, and a relu whose input changes its sign has another
// gradient. That changes these weights by up to 3e-3, while roundings of 1e-7 in each step alone
// change them by 5e-6. So there is a convnet without relu too: if it differs as well, relu is not
// the cause.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/distribute/data_parallel.h"
#include "keratin/graph/input.h"
#include "keratin/graph/variable_shards.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/ops/ops.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/testing/waves.h"
#include "keratin/train/callback.h"
#include "tests/replicas/difference_testing.h"
#include "tests/replicas/replica_config_testing.h"

namespace keratin {
namespace {

using testing::difference;
using testing::ReplicaConfig;
using testing::replicate;
using testing::single_threaded;
using testing::tolerance;
using testing::waves;

// Computes on one device what Keras's BatchNormalization computes on several: each slice of the
// batch has its own statistics, which update the averages one after the other.
class BatchNormOfSlices final : public Layer {
 public:
  explicit BatchNormOfSlices(int64_t slices) : Layer("BatchNormOfSlices", {}), slices_(slices) {}
  std::string_view class_name() const override { return "BatchNormOfSlices"; }
  LayerPtr fresh_copy() const override { return std::make_shared<BatchNormOfSlices>(slices_); }

  void build(const Shapes& inputs) override {
    const Shape channels{inputs[0].back()};
    gamma_ = add_weight("gamma", channels, "ones");
    beta_ = add_weight("beta", channels, "zeros");
    mean_ = add_weight("moving_mean", channels, "zeros", {.trainable = false});
    variance_ = add_weight("moving_variance", channels, "ones", {.trainable = false});
  }

  Results call(const Call& c) const override {
    const Value x = c.input();
    if (!c.training()) return normalized(c, x, c.read(mean_), c.read(variance_));
    const int64_t batch = x.shape()[0], step = batch / slices_;
    Values out;
    for (int64_t i = 0; i < slices_; ++i) {
      const int64_t begin = i * step, end = i + 1 == slices_ ? batch : begin + step;
      if (begin == end) continue;
      const Value slice = ops::slice_axis(x, 0, begin, end);
      const Value mean = ops::mean(slice, {0, 1, 2});
      const Value variance = ops::mean(ops::square(slice - mean), {0, 1, 2});
      out.push_back(normalized(c, slice, mean, variance));
      c.update(mean_, c.read(mean_) * 0.99 + mean * 0.01);
      c.update(variance_, c.read(variance_) * 0.99 + variance * 0.01);
    }
    return out.size() == 1 ? out[0] : ops::concatenate(out, 0);
  }

 private:
  Value normalized(const Call& c, Value x, Value mean, Value variance) const {
    return (x - mean) / ops::sqrt(variance + 1e-3) * c.read(gamma_) + c.read(beta_);
  }

  int64_t slices_;
  Variable gamma_, beta_, mean_, variance_;
};

// Makes a model, and data for it.
struct Case {
  std::string name;
  // The model to replicate, for a batch size; and the model to compare with, if one device needs
  // another one.
  std::function<Model(int64_t batch)> model;
  std::function<Model(int64_t batch, int64_t devices)> alone = {};
  std::function<Tree<Tensor>(int64_t batch)> x, y;
  CompileOptions training = {};
};

Model perceptron(int64_t) {
  const auto x = Input({6});
  const SymbolicTensor h = Dense({.units = 16, .activation = "relu"},
                                 LayerOptions{.activity_regularizer = regularizers::L2(0.01)})(x);
  return Model({.inputs = x,
                .outputs = Dense({.units = 3, .kernel_regularizer = regularizers::L2(0.01)})(
                    Dense({.units = 8, .activation = "tanh"})(h))});
}

template <class Norm>
Model convnet(const Norm& norm, const Activation& activation = "relu") {
  const auto x = Input({6, 6, 2});
  SymbolicTensor y = Conv2D({.filters = 4, .kernel_size = 3})(x);
  y = layers::Activation({.activation = activation})(SymbolicTensor(norm(y)));
  y = Conv2D({.filters = 3, .kernel_size = 2})(y);
  return Model({.inputs = x, .outputs = Dense({.units = 2})(Flatten()(y))});
}

Model masked_lstm(int64_t) {
  const auto x = Input({5, 3});
  const auto states = LSTM({.units = 4, .return_state = true})(Masking()(x)).flat();
  return Model({.inputs = x,
                .outputs = Dense({.units = 2})(Concatenate()({states[0], states[1], states[2]}))});
}

Model stateful_gru(int64_t batch) {
  const auto x = Input(InputOptions{.shape = {4, 3}, .batch_size = batch});
  return Model(
      {.inputs = x, .outputs = Dense({.units = 2})(GRU({.units = 5, .stateful = true})(x))});
}

Model several_ends(int64_t) {
  const auto a = Input({4}), b = Input({3});
  const SymbolicTensor both =
      Concatenate()({Dense({.units = 5, .activation = "tanh"})(a), SymbolicTensor(b)});
  return Model({.inputs = Symbols{a, b},
                .outputs = Symbols{Dense({.units = 2}, "first")(both),
                                   Dense({.units = 1, .activation = "sigmoid"}, "second")(both)}});
}

Model siamese(int64_t) {
  const auto in = Input({4});
  const Model tower({.inputs = in, .outputs = Dense({.units = 6, .activation = "tanh"})(in)});
  const auto a = Input({4}), b = Input({4});
  const SymbolicTensor apart = Lambda([](const Values& v) { return ops::abs(v[0] - v[1]); })(
      Symbols{SymbolicTensor(tower(a)), SymbolicTensor(tower(b))});
  return Model(
      {.inputs = Symbols{a, b}, .outputs = Dense({.units = 1, .activation = "sigmoid"})(apart)});
}

// Sequences of different lengths, padded with zeros.
Tensor padded(int64_t batch) {
  Tensor x = waves({batch, 5, 3}, 0);
  for (int64_t i = 0; i < batch; ++i)
    for (int64_t t = 2 + i % 4; t < 5; ++t)
      for (int64_t f = 0; f < 3; ++f) x.set((i * 5 + t) * 3 + f, 0);
  return x;
}

Tensor ones_and_zeros(int64_t batch) {
  Tensor y(DType::f32, {batch, 1});
  for (int64_t i = 0; i < batch; ++i) y.set(i, static_cast<double>(i % 3 == 0));
  return y;
}

std::vector<Case> cases() {
  const auto target = [](int64_t units) {
    return [units](int64_t batch) -> Tree<Tensor> { return waves({batch, units}, 1, 0.3); };
  };
  const auto image = [](int64_t batch) -> Tree<Tensor> { return waves({batch, 6, 6, 2}, 0); };
  const auto normalised_in_parts = [](const Activation& activation) {
    return [activation](int64_t, int64_t devices) {
      const auto norm = [&](const SymbolicTensor& x) {
        return (*std::make_shared<BatchNormOfSlices>(devices))(x);
      };
      return convnet(norm, activation);
    };
  };
  return {
      {.name = "perceptron",
       .model = perceptron,
       .x = [](int64_t batch) -> Tree<Tensor> {
         return waves({batch, 6}, 0);
       },
       .y = target(3)},
      {.name = "convnet",
       .model = [](int64_t) { return convnet(BatchNormalization()); },
       .alone = normalised_in_parts("relu"),
       .x = image,
       .y = target(2)},
      {.name = "smooth convnet",
       .model = [](int64_t) { return convnet(BatchNormalization(), "silu"); },
       .alone = normalised_in_parts("silu"),
       .x = image,
       .y = target(2)},
      {.name = "synchronized convnet",
       .model = [](int64_t) { return convnet(BatchNormalization({.synchronized = true})); },
       .x = image,
       .y = target(2)},
      {.name = "masked lstm",
       .model = masked_lstm,
       .x = [](int64_t batch) -> Tree<Tensor> { return padded(batch); },
       .y = target(2)},
      {.name = "stateful gru",
       .model = stateful_gru,
       .x = [](int64_t batch) -> Tree<Tensor> {
         return waves({batch, 4, 3}, 0);
       },
       .y = target(2)},
      {.name = "several ends",
       .model = several_ends,
       .x = [](int64_t batch) -> Tree<Tensor> {
         return Tree<Tensor>::List{waves({batch, 4}, 0), waves({batch, 3}, 2)};
       },
       .y = [](int64_t batch) -> Tree<Tensor> {
         return Tree<Tensor>::List{waves({batch, 2}, 1), ones_and_zeros(batch)};
       },
       .training = {.loss = std::vector<Loss>{"mse", "binary_crossentropy"}}},
      {.name = "siamese",
       .model = siamese,
       .x = [](int64_t batch) -> Tree<Tensor> {
         return Tree<Tensor>::List{waves({batch, 4}, 0), waves({batch, 4}, 2)};
       },
       .y = [](int64_t batch) -> Tree<Tensor> { return ones_and_zeros(batch); },
       .training = {.loss = "binary_crossentropy"}},
  };
}

class TrainedReplicas : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    handler_ = set_warning_handler({});
    set_logical_devices("gpu", 4);
    set_random_seed(5);
  }
  void TearDown() override {
    set_logical_devices("gpu", 0);
    set_warning_handler(handler_);
  }

 private:
  WarningHandler handler_;
};

void compile(Model& model, const Case& given, const EngineOptions& engine = {}) {
  CompileOptions training = given.training;
  training.optimizer = SGD({.learning_rate = 0.01, .momentum = 0.9});
  training.engine = engine;
  if (training.loss.empty()) training.loss = "mse";
  model.compile(training);
}

// `many` trains the variables of `made`.
void expect_same_training(const Case& given, int64_t batch, Model one, Model many,
                          const Model& made) {
  const Tree<Tensor> x = given.x(batch), y = given.y(batch);
  EXPECT_LE(difference(many.predict_on_batch(x, single_threaded()).flat(),
                       one.predict_on_batch(x, single_threaded()).flat()),
            tolerance(given.alone ? 1e-6 : 0, 1e-5));
  for (Model* model : {&one, &many}) compile(*model, given);
  double got = 0, expected = 0;  // means of the losses so far
  for (int step = 0; step < 20; ++step) {
    got += (many.train_on_batch(x, y).at("loss") - got) / (step + 1);
    expected += (one.train_on_batch(x, y).at("loss") - expected) / (step + 1);
    ASSERT_NEAR(got, expected, tolerance(1e-5, 1e-4) * (1 + std::abs(expected))) << "step " << step;
  }
  const std::vector<Tensor> ours = made.get_weights(), theirs = one.get_weights();
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i)
    EXPECT_LE(difference({ours[i]}, {theirs[i]}), tolerance(1e-5, 1e-4))
        << made.weights()[i].path();
  EXPECT_LE(difference(made.predict_on_batch(x).flat(), one.predict_on_batch(x).flat()),
            tolerance(1e-5, 1e-4));
}

Model made_on_a_gpu(const Case& given, int64_t batch) {
  const auto scope = device_scope("gpu:0");
  return given.model(batch);
}

TEST_P(TrainedReplicas, EqualOneDevice) {
  const Case given = cases()[GetParam()];
  for (const ReplicaConfig& config : testing::all_replica_configs())
    for (const int64_t batch : {1, 7, 10, 64}) {
      SCOPED_TRACE(text(given.name, ", batch ", batch, ", ", config));
      const Model made = made_on_a_gpu(given, batch);
      Model one = given.alone ? given.alone(batch, config.devices) : given.model(batch);
      one.set_weights(made.get_weights());
      expect_same_training(given, batch, one, replicate(made, config), made);
    }
}

// With an owner device for each variable, and with mirrored variables: on devices of one kind all
// copies have the same bits.
TEST_P(TrainedReplicas, DataParallelEqualsOneDevice) {
  const Case given = cases()[GetParam()];
  for (const std::vector<std::string>& names : {std::vector<std::string>{"gpu:0", "gpu:1"},
                                                {"gpu:0", "gpu:1", "gpu:2"},
                                                {"gpu:0", "gpu:1", "gpu:2", "gpu:3"},
                                                {"gpu:0", "cpu:0"}})
    for (const int64_t batch : {1, 7, 10, 64})
      for (const bool mirror : {true, false}) {
        const auto devices = static_cast<int64_t>(names.size());
        // Data are split more evenly than multi_gpu_model does it: other statistics.
        if (given.alone && batch % devices != 0) continue;
        SCOPED_TRACE(text(given.name, ", batch ", batch, ", ", devices, " devices, the last ",
                          names.back(), mirror ? ", mirrored" : ""));
        const Model made = given.model(batch);
        const Model one = given.alone ? given.alone(batch, devices) : given.model(batch);
        one.layer()->set_weights(made.get_weights());
        const distribute::DataParallel config({.devices = names, .mirror_variables = mirror});
        expect_same_training(given, batch, one, distribute::distribute(made, config), made);
        for (const Variable& v : made.weights()) {
          const VariableShards* mirrors = shards_of(v);
          ASSERT_EQ(mirrors != nullptr, mirror) << v.path();
          if (mirrors == nullptr) continue;
          ASSERT_EQ(mirrors->shards.size(), names.size());
          for (const Variable& copy : mirrors->shards)
            EXPECT_LE(difference({copy.value()}, {v.value()}),
                      names.back() == "cpu:0" ? tolerance(0, 1e-4) : 0)
                << copy.path();
        }
      }
}

// Independent of the timing of threads: averages of BatchNormalization are updated slice after
// slice, and sums are computed in the order of the slices.
TEST_P(TrainedReplicas, LearnTheSameBitsAgain) {
  const Case given = cases()[GetParam()];
  const auto weights = given.model(10).get_weights();
  const Tree<Tensor> x = given.x(10), y = given.y(10);
  const auto data_parallel = [](const Model& made, bool mirror) {
    return distribute::distribute(
        made, distribute::DataParallel(
                  {.devices = {"gpu:0", "gpu:1", "gpu:2"}, .mirror_variables = mirror}));
  };
  const std::map<std::string, std::function<Model(const Model&)>> configs = {
      {"relocated",
       [](const Model& made) {
         return replicate(made, {3, true, true});
       }},
      {"one owner each", [&](const Model& made) { return data_parallel(made, false); }},
      {"mirrored", [&](const Model& made) { return data_parallel(made, true); }}};
  for (const auto& [name, replicated] : configs) {
    const auto learnt = [&, &make_many = replicated] {
      const Model made = made_on_a_gpu(given, 10);
      made.layer()->set_weights(weights);
      Model many = make_many(made);
      compile(many, given, {.threads = 8});
      for (int step = 0; step < 10; ++step) many.train_on_batch(x, y);
      return made.get_weights();
    };
    EXPECT_LE(difference(learnt(), learnt()), 0) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TrainedReplicas, ::testing::Range(size_t{0}, cases().size()),
                         [](const auto& info) {
                           std::string name = cases()[info.param].name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace keratin
