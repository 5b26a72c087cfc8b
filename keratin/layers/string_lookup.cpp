#include "keratin/base/text.h"
#include "keratin/layers/categories.h"
#include "keratin/layers/index_lookup.h"
#include "keratin/layers/preprocessing.h"
#include "keratin/layers/vocabulary.h"

// The lookups: their vocabularies are strings, integers, or what the config says.
namespace keratin {
namespace {

template <class Config>
LookupRules rules_of(const Config& config, DType dtype) {
  return {.dtype = dtype,
          .max_tokens = config.max_tokens,
          .num_oov_indices = config.num_oov_indices,
          .mask_token = config.mask_token,
          .oov_token = config.oov_token,
          .invert = config.invert,
          .output_mode = config.output_mode,
          .pad_to_max_tokens = config.pad_to_max_tokens,
          .sparse = config.sparse,
          .oov_method = config.oov_method,
          .salt = config.salt,
          .idf_weights = config.idf_weights};
}

// As Keras writes it: a salt is two numbers, and a file's vocabulary is not in the config.
template <class Config>
void settle(Config& config) {
  if (config.output_mode == "binary") config.output_mode = "multi_hot";
  if (config.output_mode == "tf-idf") config.output_mode = "tf_idf";
  if (config.salt.is_int()) config.salt = Json::Array{config.salt, config.salt};
  if (config.vocabulary.is_string()) config.vocabulary = {};
}

}  // namespace

IntegerLookupLayer::IntegerLookupLayer(IntegerLookupConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(cfg.max_tokens.value_or(2) > 1,
          "If `max_tokens` is set for `IntegerLookup`, it must be greater than 1. Received: "
          "max_tokens=",
          cfg.max_tokens.value_or(0));
  require(cfg.num_oov_indices >= 0,
          "The value of `num_oov_indices` argument for `IntegerLookup` must >= 0. Received: "
          "num_oov_indices=",
          cfg.num_oov_indices);
  require(cfg.vocabulary_dtype == "int64",
          "Only `vocabulary_dtype='int64'` is supported at this time. Received: vocabulary_dtype=",
          cfg.vocabulary_dtype);
  start(rules_of(cfg, DType::i64), cfg.vocabulary, cfg.vocabulary_size);
  settle(cfg);
}

LayerPtr IntegerLookupLayer::from_config(const Json& json, const ConfigContext& context) {
  refuse_vocabulary_path(json);
  return LayerOf::from_config(json, context);
}

Json IntegerLookupLayer::own_config() const {
  Json json = LayerOf::own_config();
  json["vocabulary_size"] = frozen_size();
  return json;
}

LayerPtr IntegerLookupLayer::fresh_copy() const {
  auto copy = std::make_shared<IntegerLookupLayer>(fresh_config(), options());
  copy->copy_vocabulary(*this);
  return copy;
}

std::vector<int64_t> IntegerLookupLayer::get_vocabulary(bool include_special_tokens) const {
  return vocabulary(include_special_tokens).to_vector<int64_t>();
}

void IntegerLookupLayer::set_vocabulary(const std::vector<int64_t>& tokens,
                                        const std::vector<double>& idf_weights) {
  LookupLayer::set_vocabulary(Tensor(tokens, {static_cast<int64_t>(tokens.size())}), idf_weights);
}

StringLookupLayer::StringLookupLayer(StringLookupConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  start(rules_of(cfg, DType::string), cfg.vocabulary, cfg.vocabulary_size);
  settle(cfg);
}

LayerPtr StringLookupLayer::from_config(const Json& json, const ConfigContext& context) {
  refuse_vocabulary_path(json);
  return LayerOf::from_config(json, context);
}

Json StringLookupLayer::own_config() const {
  Json json = LayerOf::own_config();
  json["vocabulary_size"] = frozen_size();
  return json;
}

LayerPtr StringLookupLayer::fresh_copy() const {
  auto copy = std::make_shared<StringLookupLayer>(fresh_config(), options());
  copy->copy_vocabulary(*this);
  return copy;
}

std::vector<std::string> StringLookupLayer::get_vocabulary(bool include_special_tokens) const {
  return vocabulary(include_special_tokens).to_strings();
}

void StringLookupLayer::set_vocabulary(const std::vector<std::string>& tokens,
                                       const std::vector<double>& idf_weights) {
  LookupLayer::set_vocabulary(Tensor(tokens), idf_weights);
}

IndexLookupLayer::IndexLookupLayer(IndexLookupConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  check_choice(cfg.keras_name, "vocabulary_dtype", cfg.vocabulary_dtype, {"string", "int64"});
  start(rules_of(cfg, cfg.vocabulary_dtype == "string" ? DType::string : DType::i64),
        cfg.vocabulary, cfg.vocabulary_size);
  settle(cfg);
}

LayerPtr IndexLookupLayer::from_config(const Json& json, const ConfigContext& context) {
  refuse_vocabulary_path(json);
  return LayerOf::from_config(json, context);
}

Json IndexLookupLayer::own_config() const {
  Json json = LayerOf::own_config();
  json["vocabulary_size"] = frozen_size();
  return json;
}

LayerPtr IndexLookupLayer::fresh_copy() const {
  auto copy = std::make_shared<IndexLookupLayer>(fresh_config(), options());
  copy->copy_vocabulary(*this);
  return copy;
}

}  // namespace keratin
