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
  expect_user_error(with({.output_mode = "count", .sparse = true}), "sparse tensors");
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

TEST(IntegerLookup, LearnsFromBatches) {
  const IntegerLookup layer;
  layer->adapt({Tensor({int64_t{7}, int64_t{5}}), Tensor({int64_t{5}, int64_t{9}})});
  EXPECT_EQ(layer->get_vocabulary(), (std::vector<int64_t>{-1, 5, 9, 7}));
}

}  // namespace
}  // namespace keratin
