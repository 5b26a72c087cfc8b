// A masked decoder that starts from an encoder's states, replicated (Keras's issue 12835): in Keras
// 2.2.4 the second call of a model saw the mask of the first, so that the second replica computed
// with the samples of another.
#include <gtest/gtest.h>

#include <cmath>

#include "keratin/distribute/multi_gpu_model.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/optimizers/optimizers.h"
#include "tests/replicas/difference_testing.h"

namespace keratin {
namespace {

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

TEST(MaskedDecoder, AnswersAndLearnsAsOnOneDevice) {
  set_logical_devices("gpu", 3);
  set_random_seed(1);
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
      // The masks matter: a padded word and a word of the same number would differ otherwise.
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
  set_logical_devices("gpu", 0);
}

}  // namespace
}  // namespace keratin
