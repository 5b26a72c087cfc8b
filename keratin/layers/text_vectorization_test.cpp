#include <gtest/gtest.h>

#include "keratin/layers/preprocessing.h"
#include "keratin/model/program.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

Tensor vectorized(Layer& layer, const Tensor& x) {
  return run_layer(layer, {{MaskedTensor{x}}, {}}).outputs.leaf();
}

Tensor whole(const Shape& shape, const std::vector<int64_t>& values) {
  return Tensor::of(DType::i64, shape, values);
}

TextVectorization words() {
  return TextVectorizationConfig{.vocabulary = Json::Array{"foo", "bar", "baz"}};
}

TEST(TextVectorization, RowsAreAsLongAsTheLongestText) {
  const auto layer = words();
  EXPECT_EQ(vectorized(*layer, Tensor({{"Foo! qux bar"}, {"baz"}})),
            whole({2, 3}, {2, 1, 3, 4, 0, 0}));
  EXPECT_EQ(vectorized(*layer, Tensor({{"foo"}, {""}})), whole({2, 1}, {2, 0}));
  EXPECT_EQ(vectorized(*layer, Tensor({"foo bar", "baz"})), whole({2, 2}, {2, 3, 4, 0}));
  EXPECT_EQ(vectorized(*layer, Tensor(std::vector<std::string>{"bar foo"}, {})),
            whole({2}, {3, 2}));
}

TEST(TextVectorization, LearnsFromBatches) {
  const TextVectorization layer;
  layer->adapt({Tensor({"a b", "b"}), Tensor({"c b a."})});
  EXPECT_EQ(layer->get_vocabulary(), (std::vector<std::string>{"", "[UNK]", "b", "a", "c"}));
  EXPECT_EQ(layer->get_vocabulary(false), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(layer->vocabulary_size(), 5);
}

TEST(TextVectorization, PadsRowsThatAreRaggedInKeras) {
  std::vector<std::string> warnings;
  const auto before = set_warning_handler([&](const std::string& w) { warnings.push_back(w); });
  const TextVectorization layer({.vocabulary = Json::Array{"a", "b"}, .ragged = true}, "texts");
  set_warning_handler(before);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(
      warnings[0],
      "TextVectorization 'texts': its output is ragged in Keras; here rows are padded with 0");
  EXPECT_EQ(vectorized(*layer, Tensor({"a b", "b"})), whole({2, 2}, {2, 3, 3, 0}));
  EXPECT_TRUE(layer->get_config().at("ragged").as_bool());
}

TEST(TextVectorization, OneHotOfWordsHasNothingInPadding) {
  const auto before = set_warning_handler({});
  const TextVectorization layer({.output_mode = "one_hot", .vocabulary = Json::Array{"a"}});
  set_warning_handler(before);
  EXPECT_EQ(vectorized(*layer, Tensor({"a b", "b"})), whole({2, 2, 2}, {0, 1, 1, 0, 1, 0, 0, 0}));
  EXPECT_EQ(vectorized(*layer, Tensor({{"a"}, {"b"}})), whole({2, 1, 2}, {0, 1, 1, 0}));
}

TEST(TextVectorization, RefusesWhatItCannotDo) {
  const auto with = [](TextVectorizationConfig config) {
    return [config] { TextVectorization(config, LayerOptions{}); };
  };
  expect_user_error(with({.sparse = true}), "`sparse` may only be true if `output_mode` is");
  expect_user_error(with({.output_mode = "count", .ragged = true}),
                    "`ragged` must not be true if `output_mode` is not `'int'`");
  expect_user_error(with({.standardize = Json::Object{{"class_name", "function"}}}),
                    "`standardize` is a Python function");
  expect_user_error(with({.split = "words"}), "Unknown value for `split` argument");
  expect_user_error(with({.ngrams = 1 << 30}), "`ngrams` must be between 1 and 1000");
  expect_user_error(with({.output_mode = "count", .output_sequence_length = 4}),
                    "`output_sequence_length` must not be set");
  expect_user_error(
      [] {
        vectorized(*words(), Tensor({{"a", "b"}}));
      },
      "last shape dimension must be 1");
  expect_user_error([] { vectorized(*words(), Tensor({{1.f}})); }, "expected strings");
  const auto given = words();
  expect_user_error([&] { given->adapt(Tensor({"a"})); }, "after setting a static vocabulary");
}

}  // namespace
}  // namespace keratin
