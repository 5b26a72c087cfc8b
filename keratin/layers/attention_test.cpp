#include "keratin/layers/attention.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;
using testing::random_tensor;

// Scores lowered by 1e9 lose the small steps of finite differences.
const testing::LayerChecks checks{.no_gradient = {"all values masked"}};

TEST(Attention, BehavesAsInKeras) { check_layer("Attention", checks); }
TEST(AdditiveAttention, BehavesAsInKeras) { check_layer("AdditiveAttention", checks); }

TEST(Attention, TakesUnknownLengths) {
  const auto [y, scores] =
      Attention()({Input({unknown, 4}), Input({unknown, 4})},
                  {{"use_causal_mask", true}, {"return_attention_scores", true}})
          .unpack<2>();
  EXPECT_EQ(y.shape(), Shape({unknown, unknown, 4}));
  EXPECT_EQ(scores.shape(), Shape({unknown, unknown, unknown}));
}

Arguments<MaskedTensor> query_and_value() {
  const Type type{DType::f32, {2, 30, 8}};
  return {{Tree<MaskedTensor>::List{MaskedTensor{random_tensor(type, -1, 1, 1)},
                                    MaskedTensor{random_tensor(type, -1, 1, 2)}}},
          {{"return_attention_scores", true}}};
}

std::vector<Tensor> outputs(const LayerPtr& layer, bool training) {
  return run_layer(*layer, query_and_value(), {.training = training}).outputs.flat();
}

TEST(Attention, DropsScoresOnlyWhileTraining) {
  const auto layer = Attention({.dropout = 0.25, .seed = 3});
  const auto whole = outputs(layer, false), dropped = outputs(layer, true);
  EXPECT_EQ(whole, outputs(Attention(), false));
  int64_t zeros = 0;
  for (int64_t i = 0; i < whole[1].count(); ++i) {
    if (dropped[1].at(i) == 0)
      ++zeros;
    else
      EXPECT_NEAR(dropped[1].at(i), whole[1].at(i) / 0.75, 1e-6);
  }
  EXPECT_NEAR(static_cast<double>(zeros) / static_cast<double>(whole[1].count()), 0.25, 0.05);
  EXPECT_EQ(dropped, outputs(Attention({.dropout = 0.25, .seed = 3}), true));
  EXPECT_NE(dropped, outputs(layer, true)) << "the next call draws other numbers";
}

TEST(Attention, RefusesBadArguments) {
  expect_user_error([] { Attention({.score_mode = "cosine"}); }, {"score_mode", "cosine"});
  expect_user_error([] { AdditiveAttention({.dropout = 1}); }, {"dropout", "1"});
  expect_user_error([] { Attention()(Input({3, 4})); }, {"Attention", "length", "1"});
  const SymbolicTensor x = Input({3, 4});
  expect_user_error([&] { AdditiveAttention()({x, x, x, x}); }, {"length 2 or 3", "4"});
  expect_user_error([&] { AdditiveAttention()({Input({3, unknown}), x}); }, "last dimension");
}

}  // namespace
}  // namespace keratin
