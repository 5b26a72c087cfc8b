#include "keratin/io/saved_objects.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/keratin.h"

namespace keratin::io {
namespace {

// "path: number of variables", for each object that has variables.
std::vector<std::string> groups(const Model& model, const OptimizerState* optimizer = nullptr) {
  std::vector<std::string> out;
  for (const SavedObject& object : saved_objects(*model.layer(), optimizer))
    if (!object.variables.empty())
      out.push_back(text(object.group(), ": ", object.variables.size()));
  return out;
}

// The groups are those that Keras 3.15.1 wrote for the same models.
TEST(SavedObjects, HaveThePathsOfKeras) {
  const Sequential model(
      {Embedding({.input_dim = 5, .output_dim = 4, .mask_zero = true}),
       Bidirectional({.layer = LSTM({.units = 3, .return_sequences = true})}),
       RNN({.cell = StackedRNNCells({.cells = {LSTMCell({.units = 2}), GRUCell({.units = 2})}})}),
       Dropout({.rate = 0.1}), Dense({.units = 2}), Dense({.units = 1})});
  model.predict(Tensor::zeros(DType::i32, {1, 4}));
  EXPECT_EQ(groups(model),
            (std::vector<std::string>{
                "layers/embedding/vars: 1", "layers/bidirectional/backward_layer/cell/vars: 3",
                "layers/bidirectional/forward_layer/cell/vars: 3",
                "layers/rnn/cell/cells/lstm_cell/vars: 3", "layers/rnn/cell/cells/gru_cell/vars: 3",
                "layers/dense/vars: 2", "layers/dense_1/vars: 2"}));
}

TEST(SavedObjects, SortMembersOfAttentionByName) {
  const auto in = Input({3, 4});
  const Model model(
      {.inputs = in, .outputs = MultiHeadAttention({.num_heads = 2, .key_dim = 2})(in, in)});
  EXPECT_EQ(groups(model),
            (std::vector<std::string>{"layers/multi_head_attention/key_dense/vars: 2",
                                      "layers/multi_head_attention/output_dense/vars: 2",
                                      "layers/multi_head_attention/query_dense/vars: 2",
                                      "layers/multi_head_attention/value_dense/vars: 2"}));
}

// Keras exports the class by another name.
TEST(SavedObjects, NameGroupQueryAttentionByItsPythonClass) {
  const auto in = Input({3, 4});
  const GroupQueryAttention attention(
      {.head_dim = 2, .num_query_heads = 2, .num_key_value_heads = 1});
  const Model model({.inputs = in, .outputs = attention(in, in)});
  EXPECT_EQ(groups(model)[0], "layers/grouped_query_attention/_key_dense/vars: 2");
}

TEST(SavedObjects, ListTheLayersOfAPipelineAsThoseOfAModel) {
  const auto in = Input({3});
  const Pipeline steps(
      {.layers = {Dense({.units = 2}), Dropout({.rate = 0.1}), Dense({.units = 1})}});
  EXPECT_EQ(groups(Model({.inputs = in, .outputs = steps(in)})),
            (std::vector<std::string>{"layers/pipeline/layers/dense/vars: 2",
                                      "layers/pipeline/layers/dense_1/vars: 2"}));
}

TEST(SavedObjects, NestInnerOptimizers) {
  const auto in = Input({3});
  const Model model({.inputs = in, .outputs = Dense({.units = 2})(in)});
  const LossScaleOptimizer optimizer({.inner_optimizer = Adam()});
  optimizer->build(model.layer()->trainable_weights());
  EXPECT_EQ(groups(model, &*optimizer),
            (std::vector<std::string>{"layers/dense/vars: 2", "optimizer/vars: 10",
                                      "optimizer/inner_optimizer/vars: 6"}));
}

}  // namespace
}  // namespace keratin::io
