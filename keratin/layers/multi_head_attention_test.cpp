#include "keratin/layers/multi_head_attention.h"

#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using testing::random_tensor;

std::string attributes(const Layer& layer) {
  std::string all;
  for (const auto& [attribute, sublayer, in_list] : layer.sublayers())
    all += text(attribute, ":", sublayer->name(), " ");
  return all;
}

// Files find weights by these names.
TEST(MultiHeadAttention, NamesItsLayersAsKeras) {
  clear_session();
  const auto heads = MultiHeadAttention({.num_heads = 2, .key_dim = 3, .use_gate = true});
  heads(Input({3, 4}), Input({5, 4}));
  EXPECT_EQ(attributes(*heads),
            "query_dense:query key_dense:key _gate_dense:gate value_dense:value _softmax:softmax "
            "_dropout_layer:dropout output_dense:attention_output ");
  const auto groups =
      GroupQueryAttention({.head_dim = 3, .num_query_heads = 4, .num_key_value_heads = 2});
  groups(Input({3, 4}), Input({5, 4}));
  EXPECT_EQ(groups->name(), "grouped_query_attention");
  EXPECT_EQ(attributes(*groups),
            "_query_dense:query _key_dense:key _value_dense:value _softmax:softmax_1 "
            "_dropout_layer:dropout_1 _output_dense:attention_output ");
  EXPECT_EQ(groups->weights()[0].path(), "grouped_query_attention/query/kernel");
}

TEST(MultiHeadAttention, TakesUnknownLengths) {
  const auto heads = MultiHeadAttention({.num_heads = 2, .key_dim = 3, .sliding_window = 4});
  const auto [y, scores] = heads(Input({unknown, 4}), Input({unknown, 5}),
                                 {{"use_causal_mask", true}, {"return_attention_scores", true}})
                               .unpack<2>();
  EXPECT_EQ(y.shape(), Shape({unknown, unknown, 4}));
  EXPECT_EQ(scores.shape(), Shape({unknown, 2, unknown, unknown}));
  EXPECT_EQ(heads->get_config().at("attention_axes"), Json::parse("[1]"));
}

Arguments<MaskedTensor> query_and_value(bool scores) {
  const Type type{DType::f32, {2, 20, 8}};
  return {
      {MaskedTensor{random_tensor(type, -1, 1, 1)}, MaskedTensor{random_tensor(type, -1, 1, 2)}},
      {{"return_attention_scores", scores}, {"use_causal_mask", true}}};
}

// The fused program and the one that shows its scores are one function.
template <class Heads>
void expect_same_with_scores(const Heads& heads) {
  const Tensor alone = run_layer(*heads, query_and_value(false)).outputs;
  const auto both = run_layer(*heads, query_and_value(true)).outputs.flat();
  ASSERT_EQ(both.size(), 2u);
  testing::expect_close(alone, both[0], 1e-5, "the result");
}

TEST(MultiHeadAttention, GivesTheSameResultWithScores) {
  expect_same_with_scores(MultiHeadAttention({.num_heads = 4, .key_dim = 6}));
  expect_same_with_scores(
      GroupQueryAttention({.head_dim = 6, .num_query_heads = 4, .num_key_value_heads = 2}));
}

TEST(MultiHeadAttention, DropsOnlyInTraining) {
  const MultiHeadAttentionConfig config{.num_heads = 2, .key_dim = 4, .dropout = 0.5, .seed = 7};
  const auto heads = MultiHeadAttention(config), twin = MultiHeadAttention(config);
  const auto run = [](const MultiHeadAttention& layer, bool training) {
    return run_layer(*layer, query_and_value(false), {.training = training}).outputs.flat()[0];
  };
  const Tensor calm = run(heads, false);
  EXPECT_EQ(calm, run(heads, false));
  run(twin, false);
  twin->set_weights(heads->get_weights());
  const Tensor dropped = run(heads, true);
  EXPECT_NE(dropped, calm);
  EXPECT_EQ(dropped, run(twin, true));
  EXPECT_NE(dropped, run(heads, true)) << "the next call draws other numbers";
}

TEST(MultiHeadAttention, PenalizesItsProjectionsOnly) {
  const LayerOptions options{.activity_regularizer = Regularizer::from_json("l2")};
  const auto heads = MultiHeadAttention({.num_heads = 2, .key_dim = 3}, options);
  EXPECT_EQ(run_layer(*heads, query_and_value(false)).losses.size(), 4u);
  const auto copy = heads->fresh_copy();
  EXPECT_EQ(copy->get_config(), heads->get_config());
  EXPECT_FALSE(copy->get_config().at("activity_regularizer").is_null());
  const auto groups =
      GroupQueryAttention({.head_dim = 3, .num_query_heads = 4, .num_key_value_heads = 2}, options);
  EXPECT_EQ(run_layer(*groups, query_and_value(false)).losses.size(), 5u);
}

TEST(MultiHeadAttention, RefusesBadArguments) {
  expect_user_error([] { MultiHeadAttention({.key_dim = 3}); }, {"num_heads", "0"});
  expect_user_error([] { MultiHeadAttention({.num_heads = 3}); }, {"key_dim", "0"});
  expect_user_error([] { MultiHeadAttention({.num_heads = 3, .key_dim = 2, .value_dim = -1}); },
                    {"value_dim", "-1"});
  expect_user_error([] { MultiHeadAttention({.num_heads = 3, .key_dim = 2, .sliding_window = 0}); },
                    {"sliding_window", "0"});
  expect_user_error(
      [] { GroupQueryAttention({.head_dim = 2, .num_query_heads = 3, .num_key_value_heads = 2}); },
      {"must be divisible", "3", "2"});
}

TEST(MultiHeadAttention, RefusesWrongInputs) {
  const auto heads = [] { return MultiHeadAttention({.num_heads = 2, .key_dim = 3}); };
  expect_user_error([&] { heads()(Input({3, 4})); }, {"query", "value", "1 tensors"});
  expect_user_error(
      [&] {
        heads()(Input({3, 4}), Input({5, 4}), Input({6, 4}));
      },
      {"`value` and `key`", "(None, 5, 4)", "(None, 6, 4)"});
  expect_user_error(
      [] {
        MultiHeadAttention({.num_heads = 2, .key_dim = 3, .attention_axes = 2})(Input({3, 4}),
                                                                                Input({3, 4}));
      },
      {"attention_axes", "[2]"});
}

}  // namespace
}  // namespace keratin
