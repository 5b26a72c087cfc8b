#include <gtest/gtest.h>

#include "keratin/layers/preprocessing.h"
#include "keratin/layers/registry.h"
#include "keratin/model/program.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

Tensor called(Layer& layer, const Tensor& x) {
  return run_layer(layer, {{MaskedTensor{x}}, {}}).outputs.leaf();
}

TEST(StringLookup, InvertsItself) {
  const StringLookup there({.mask_token = "", .vocabulary = Json::Array{"a", "b"}});
  const StringLookup back({.mask_token = "", .vocabulary = Json::Array{"a", "b"}, .invert = true});
  const Tensor words({{"b", "a", ""}});
  EXPECT_EQ(called(*back, called(*there, words)), words);
  EXPECT_EQ(called(*back, called(*there, Tensor({{"x"}}))), Tensor({{"[UNK]"}}));
}

TEST(StringLookup, SetsItsVocabulary) {
  const StringLookup layer({.mask_token = ""});
  layer->set_vocabulary({"", "[UNK]", "x", "y"});
  EXPECT_EQ(layer->get_vocabulary(false), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(called(*layer, Tensor({"y", "", "z"})),
            Tensor::of(DType::i64, {3}, std::vector<int64_t>{3, 0, 1}));
  expect_user_error(
      [&] {
        layer->set_vocabulary({"x", "x"});
      },
      "at least one repeated term. Please uniquify your dataset. The repeated terms "
      "are: ['x']");
  expect_user_error([&] { layer->set_vocabulary({"x", ""}); }, "Found reserved mask token");
  expect_user_error([&] { layer->set_vocabulary(std::vector<std::string>{}); },
                    "Cannot set an empty vocabulary");
  expect_user_error([&] { layer->set_vocabulary({"x"}, {0.5}); },
                    "`idf_weights` should only be set if output_mode is `'tf_idf'`");
  EXPECT_EQ(layer->vocabulary_size(), 4);  // an error changes nothing
}

TEST(StringLookup, RefusesWhatKerasRefuses) {
  const auto with = [](StringLookupConfig config) {
    return [config] { StringLookup(config, LayerOptions{}); };
  };
  expect_user_error(with({.max_tokens = 1}), "`max_tokens` must be greater than 1");
  expect_user_error(with({.num_oov_indices = -1}), "must be greater than or equal to 0");
  expect_user_error(with({.output_mode = "hot"}), "Unknown value for `output_mode` argument");
  expect_user_error(with({.invert = true, .output_mode = "count"}),
                    "must be `'int'` when `invert`");
  expect_user_error(with({.pad_to_max_tokens = true}), "must set `max_tokens`");
  expect_user_error(with({.sparse = true}), "`sparse` may only be true if `output_mode` is");
  expect_user_error(with({.vocabulary = Json::Array{"a"}, .output_mode = "tf_idf"}),
                    "the `idf_weights` argument must also be provided");
  expect_user_error(with({.max_tokens = 2, .vocabulary = Json::Array{"a", "b"}}),
                    "larger than the maximum vocab size");
  expect_user_error(
      [] {
        layer_from_json(Json::Object{{"class_name", "StringLookup"},
                                     {"config", Json::Object{{"vocabulary", "/etc/passwd"}}}});
      },
      "vocabulary file outside of the model archive");
  expect_user_error([] { called(*StringLookup({.output_mode = "count"}), Tensor({"a"})); },
                    "you must set the layer's vocabulary before calling it");
  expect_user_error(
      [] {
        called(*StringLookup({.num_oov_indices = 0, .vocabulary = Json::Array{"a"}}),
               Tensor({"b"}));
      },
      "found OOV values b, consider setting `num_oov_indices=1`");
}

// As Keras writes a vocabulary that was a tensor.
TEST(StringLookup, ReadsBytes) {
  const auto from = [](const char* vocabulary) {
    Json config = Json::parse(R"({"class_name": "StringLookup", "config": {}})");
    config["config"]["vocabulary"] = Json::parse(vocabulary);
    return std::dynamic_pointer_cast<StringLookupLayer>(layer_from_json(config));
  };
  const auto layer = from(R"([{"class_name": "__bytes__", "config": {"value": "a"}},
                               {"class_name": "__bytes__", "value": "b"}])");
  EXPECT_EQ(layer->get_vocabulary(), (std::vector<std::string>{"[UNK]", "a", "b"}));
  expect_user_error([&] { from(R"([{"class_name": "__slice__", "config": {}}])"); },
                    "vocabulary: expected strings");
}

LayerPtr index_lookup(const char* dtype, Json vocabulary, Json oov_token) {
  Json config = Json::Object{{"vocabulary_dtype", dtype}, {"max_tokens", Json()}};
  config["vocabulary"] = std::move(vocabulary);
  config["oov_token"] = std::move(oov_token);
  return layer_from_json(Json::Object{{"module", "keras.src.layers.preprocessing.index_lookup"},
                                      {"class_name", "IndexLookup"},
                                      {"config", std::move(config)},
                                      {"registered_name", "IndexLookup"}});
}

TEST(IndexLookup, LooksUpStringsOrIntegers) {
  const LayerPtr words = index_lookup("string", Json::Array{"a", "b"}, "[UNK]");
  EXPECT_EQ(called(*words, Tensor({"b", "z", "a"})),
            Tensor::of(DType::i64, {3}, std::vector<int64_t>{2, 0, 1}));
  EXPECT_EQ(called(*words->fresh_copy(), Tensor({"b"})),
            Tensor::of(DType::i64, {1}, std::vector<int64_t>{2}));
  const LayerPtr numbers = index_lookup("int64", Json::Array{7, 5}, -1);
  EXPECT_EQ(called(*numbers, Tensor({int64_t{5}, int64_t{6}})),
            Tensor::of(DType::i64, {2}, std::vector<int64_t>{2, 0}));
  EXPECT_EQ(words->module(), "keras.src.layers.preprocessing.index_lookup");
  expect_user_error([] { index_lookup("float32", {}, {}); },
                    "Unknown value for `vocabulary_dtype` argument");
}

TEST(IntegerLookup, LearnsFromBatches) {
  const IntegerLookup layer;
  layer->adapt({Tensor({int64_t{7}, int64_t{5}}), Tensor({int64_t{5}, int64_t{9}})});
  EXPECT_EQ(layer->get_vocabulary(), (std::vector<int64_t>{-1, 5, 9, 7}));
}

}  // namespace
}  // namespace keratin
