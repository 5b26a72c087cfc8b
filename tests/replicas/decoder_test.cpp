// A masked decoder that starts from an encoder's states, replicated (Keras's issue 12835): in Keras
// 2.2.4 the second call of a model saw the mask of the first, so that the second replica computed
// with the samples of another.
#include <gtest/gtest.h>

#include <cmath>

#include "keratin/base/text.h"
#include "keratin/distribute/multi_gpu_model.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/optimizers/optimizers.h"
#include "keratin/train/options.h"
#include "tests/replicas/difference_testing.h"
#include "tests/replicas/replica_config_testing.h"

namespace keratin {
namespace {

using testing::difference;
using testing::ReplicaConfig;
using testing::replicate;
using testing::single_threaded;
using testing::tolerance;

Tensor sentences(int64_t batch, int64_t length, int64_t seed) {
  Tensor ids(DType::i32, {batch, length});
  for (int64_t i = 0; i < batch; ++i)
    for (int64_t t = 0; t < length; ++t)
      ids.set(i * length + t, t < 1 + (i * 3 + seed) % length
                                  ? static_cast<double>(1 + (i * 7 + t * 5 + seed) % 8)
                                  : 0.0);
  return ids;
}

Model translator(Dialect dialect) {
  const auto from = Input(InputOptions{.shape = {6}, .dtype = DType::i32});
  const auto to = Input(InputOptions{.shape = {5}, .dtype = DType::i32});
  const auto words = [](const SymbolicTensor& ids) -> SymbolicTensor {
    return Embedding({.input_dim = 9, .output_dim = 4, .mask_zero = true})(ids);
  };
  const auto encoded = LSTM({.units = 5, .return_state = true})(words(from)).flat();
  const auto decoded = LSTM({.units = 5, .return_sequences = true, .return_state = true})(
                           words(to), {{"initial_state", Symbols::List{encoded[1], encoded[2]}}})
                           .flat();
  return Model({.inputs = Symbols{from, to},
                .outputs = Dense({.units = 9, .activation = "softmax"})(decoded[0]),
                .dialect = dialect});
}

class MaskedDecoder : public ::testing::Test {
 protected:
  void SetUp() override {
    set_logical_devices("gpu", 3);
    set_random_seed(1);
  }
  void TearDown() override { set_logical_devices("gpu", 0); }
};

TEST_F(MaskedDecoder, PredictsAndLearnsAsOnOneDevice) {
  for (const Dialect dialect : {Dialect::keras3, Dialect::keras2})
    for (const int64_t batch : {2, 6, 7}) {
      Model one = translator(dialect), many_template = translator(dialect);
      many_template.set_weights(one.get_weights());
      Model many = multi_gpu_model(many_template, {.gpus = 3});
      const Tree<Tensor> x = Tree<Tensor>::List{sentences(batch, 6, 1), sentences(batch, 5, 2)};
      const Tensor y = sentences(batch, 5, 4);
      const Tensor expected = one.predict(x).leaf(), got = many.predict(x).leaf();
      for (int64_t i = 0; i < expected.count(); ++i)
        ASSERT_NEAR(got.at(i), expected.at(i), testing::tolerance(1e-6, 1e-5));
      for (Model* model : {&one, &many}) {
        model->compile(
            {.optimizer = SGD({.learning_rate = 0.1}), .loss = "sparse_categorical_crossentropy"});
        for (int i = 0; i < 20; ++i) model->train_on_batch(x, y);
      }
      const auto a = many_template.get_weights(), b = one.get_weights();
      for (size_t w = 0; w < a.size(); ++w)
        for (int64_t i = 0; i < a[w].count(); ++i)
          ASSERT_NEAR(a[w].at(i), b[w].at(i), testing::tolerance(1e-5, 1e-4))
              << "batch " << batch << ", weight " << w;
    }
}

// Words at padded positions do not change the results: with the rules of Keras 2, since Keras 3
// drops the mask where states are passed.
TEST_F(MaskedDecoder, SkipsPadding) {
  const Model model = translator(Dialect::keras2), many = multi_gpu_model(model, {.gpus = 3});
  const Tree<Tensor> x = Tree<Tensor>::List{sentences(7, 6, 1), sentences(7, 5, 2)};
  const Tensor before = many.predict(x).leaf();
  const auto change = [&](int64_t word) {
    for (const Variable& v : model.weights()) {
      if (v.name() != "embeddings") continue;
      Tensor table = v.value().clone();
      for (int64_t i = 0; i < 4; ++i) table.set(4 * word + i, 9);
      v.assign(table);
    }
    return difference({many.predict(x).leaf()}, {before});
  };
  EXPECT_EQ(change(0), 0);
  EXPECT_GT(change(1), 1e-2);
}

// The same with nested models, as in the report: the decoder's states are inputs of a model.
struct Masked {
  bool encoder = true, decoder = true;
};
Model nested_translator(Masked masked = {}) {
  const auto steps = [](const SymbolicTensor& x, bool skips) -> SymbolicTensor {
    return skips ? SymbolicTensor(Masking()(x)) : x;
  };
  const Shape any_length{unknown, 3};
  const auto from = Input(any_length);
  const auto encoded =
      LSTM({.units = 5, .return_state = true}, "reads")(steps(from, masked.encoder)).flat();
  const Model encoder(
      {.inputs = from, .outputs = Symbols{encoded[1], encoded[2]}, .name = "encoder"});

  const auto to = Input(any_length), h = Input({5}), c = Input({5});
  const auto decoded = LSTM({.units = 5, .return_sequences = true, .return_state = true}, "writes")(
                           steps(to, masked.decoder), {{"initial_state", Symbols::List{h, c}}})
                           .flat();
  const Model decoder({.inputs = Symbols{to, h, c},
                       .outputs = Dense({.units = 9, .activation = "softmax"})(decoded[0]),
                       .name = "decoder"});

  const auto source = Input(any_length), target = Input(any_length);
  const auto states = encoder(source).flat();
  return Model({.inputs = Symbols{source, target},
                .outputs = decoder(Symbols{target, states[0], states[1]}),
                .dialect = Dialect::keras2});
}

// Sentences of 1 to 5 words, some with a gap, and zeros up to a length.
Tensor padded(int64_t batch, int64_t length, int64_t seed) {
  Tensor x = Tensor::zeros(DType::f32, {batch, length, 3});
  for (int64_t i = 0; i < batch; ++i)
    for (int64_t k = 0; k < 3 * (1 + (i * 3 + seed) % 5); ++k)
      if (i % 2 == 0 || k / 3 != 1)
        x.set(i * length * 3 + k, std::sin(static_cast<double>(i * 7 + k * 5 + seed)));
  return x;
}

Tree<Tensor> pairs(int64_t batch, int64_t length) {
  return Tree<Tensor>::List{padded(batch, length, 1), padded(batch, length, 2)};
}

std::vector<ReplicaConfig> three_devices() {
  std::vector<ReplicaConfig> configs = testing::all_replica_configs();
  std::erase_if(configs, [](const ReplicaConfig& config) { return config.devices != 3; });
  return configs;
}

TEST_F(MaskedDecoder, PredictsInNestedModels) {
  const Model model = nested_translator();
  for (const ReplicaConfig& config : three_devices())
    for (const int64_t batch : {180, 7}) {
      SCOPED_TRACE(text(config, ", batch ", batch));
      const Tree<Tensor> x = pairs(batch, 5);
      const auto expected = model.predict_on_batch(x, single_threaded()).flat();
      const Model many = replicate(model, config);
      EXPECT_LE(difference(many.predict_on_batch(x, single_threaded(config)).flat(), expected),
                tolerance(0, 1e-5));
    }
}

// How much the outputs of five steps change when three steps of padding are added.
double change_by_padding(const Model& model, int64_t batch, const PredictOptions& options) {
  const Tensor five = model.predict_on_batch(pairs(batch, 5), options).leaf(),
               eight = model.predict_on_batch(pairs(batch, 8), options).leaf();
  Tensor beginnings(DType::f32, five.shape());
  const int64_t row = five.count() / batch, longer = eight.count() / batch;
  for (int64_t i = 0; i < five.count(); ++i)
    beginnings.set(i, eight.at(i / row * longer + i % row));
  return difference({beginnings}, {five});
}

TEST_F(MaskedDecoder, SkipsPaddingInNestedModels) {
  const Model model = nested_translator();
  for (const ReplicaConfig& config : three_devices())
    for (const int64_t batch : {180, 7}) {
      SCOPED_TRACE(text(config, ", batch ", batch));
      const Model many = replicate(model, config);
      EXPECT_LE(change_by_padding(many, batch, single_threaded(config)), tolerance(1e-6, 1e-5));
      // Both masks count.
      const Tree<Tensor> x = pairs(batch, 5);
      for (const Masked& masked : {Masked{false, true}, Masked{true, false}}) {
        const Model other = nested_translator(masked);
        other.layer()->set_weights(model.get_weights());
        EXPECT_GT(difference(replicate(other, config).predict_on_batch(x).flat(),
                             many.predict_on_batch(x).flat()),
                  1e-3);
      }
    }
}

TEST_F(MaskedDecoder, LearnsInNestedModels) {
  for (const ReplicaConfig& config : three_devices())
    for (const int64_t batch : {180, 7}) {
      SCOPED_TRACE(text(config, ", batch ", batch));
      Model one = nested_translator();
      const Model made = nested_translator();
      made.layer()->set_weights(one.get_weights());
      Model many = replicate(made, config);
      const Tree<Tensor> x = pairs(batch, 5);
      const Tensor y = sentences(batch, 5, 4);
      for (Model* model : {&one, &many}) {
        model->compile(
            {.optimizer = SGD({.learning_rate = 0.1}), .loss = "sparse_categorical_crossentropy"});
        for (int i = 0; i < 20; ++i) model->train_on_batch(x, y);
      }
      EXPECT_LE(difference(made.get_weights(), one.get_weights()), tolerance(1e-5, 1e-4));
    }
}

}  // namespace
}  // namespace keratin
