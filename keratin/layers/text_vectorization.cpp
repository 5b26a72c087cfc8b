#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/tracer.h"
#include "keratin/layers/categories.h"
#include "keratin/layers/preprocessing.h"
#include "keratin/layers/vocabulary.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/lookup.h"
#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

// The name of a choice, or nothing for null. Python functions are refused.
std::string choice(std::string_view argument, const Json& value,
                   std::initializer_list<std::string_view> allowed) {
  if (value.is_null()) return {};
  require(value.is_string(), "TextVectorization: `", argument,
          "` is a Python function, which is never run here: ", value,
          ". A layer of yours can take its place: load_model(path, {.custom_objects = "
          "{{\"TextVectorization\", YourLayer::from_config}}}).");
  check_choice("TextVectorization", argument, value.as_string(), allowed);
  return value.as_string();
}

Dims ngrams_of(const Json& json) {
  constexpr int64_t max_words = 1000;
  Dims out;
  const auto add = [&](const Json& words) {
    require(words.is_int(),
            "`ngrams` must be None, an integer, or a tuple of integers. Received: ngrams=", json);
    require(words.as_int() > 0 && words.as_int() <= max_words && out.size() < max_words,
            "TextVectorization: `ngrams` must be between 1 and ", max_words, ", got ", json);
    out.push_back(words.as_int());
  };
  if (json.is_array()) {
    for (const Json& words : json.as_array()) add(words);
  } else if (!json.is_null()) {
    add(json);
    for (int64_t words = 1; words < json.as_int(); ++words) out.insert(out.end() - 1, words);
  }
  return out;
}

ops::TextAttrs attrs_of(const TextVectorizationConfig& cfg) {
  const std::string standardize =
      choice("standardize", cfg.standardize,
             {"lower_and_strip_punctuation", "lower", "strip_punctuation"});
  const std::string split = choice("split", cfg.split, {"whitespace", "character"});
  return {.lower = standardize.starts_with("lower"),
          .strip_punctuation = standardize.ends_with("strip_punctuation"),
          .split = split.empty() ? "none" : split,
          .ngrams = ngrams_of(cfg.ngrams)};
}

// f(row) for the texts of each row.
template <class F>
void each_row(const Tensor& texts, bool split, F&& f) {
  const int64_t rows = ops::text_rows(texts.shape(), split).count();
  const auto all = texts.data<std::string_view>();
  const size_t size = rows == 0 ? 0 : all.size() / static_cast<size_t>(rows);
  for (size_t i = 0; i < static_cast<size_t>(rows); ++i) f(all.subspan(i * size, size));
}

// How many tokens the longest row has.
int64_t longest_row(const Tensor& texts, const ops::TextRules& rules) {
  size_t longest = 0;
  ops::Tokenizer tokenizer(rules);
  each_row(texts, rules.split != "none", [&](std::span<const std::string_view> row) {
    longest = std::max(longest, tokenizer.tokens(row).size());
  });
  return static_cast<int64_t>(longest);
}

}  // namespace

TextVectorizationLayer::TextVectorizationLayer(TextVectorizationConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  attrs_of(cfg);
  if (cfg.output_mode == "binary") cfg.output_mode = "multi_hot";
  if (cfg.output_mode == "tf-idf") cfg.output_mode = "tf_idf";
  require(cfg.output_mode == "int" || !cfg.output_sequence_length,
          "`output_sequence_length` must not be set if `output_mode` is not 'int'. Received "
          "output_sequence_length=",
          cfg.output_sequence_length.value_or(0), ".");
  require(cfg.output_sequence_length.value_or(0) >= 0,
          "TextVectorization: `output_sequence_length` must not be negative, got ",
          cfg.output_sequence_length.value_or(0));
  require(!cfg.ragged || cfg.output_mode == "int",
          "`ragged` must not be true if `output_mode` is not `'int'`. Received: ragged=True and "
          "output_mode=",
          cfg.output_mode);
  if (cfg.ragged || (cfg.output_mode == "one_hot" && splits()))
    detail::warn_about(text("TextVectorization '", name(), "'"),
                       ": its output is ragged in Keras; here rows are padded with 0");
  lookup_ = std::make_shared<StringLookupLayer>(
      StringLookupConfig{.max_tokens = cfg.max_tokens,
                         .mask_token = "",
                         .vocabulary = cfg.vocabulary,
                         .idf_weights = cfg.idf_weights,
                         .output_mode = cfg.output_mode,
                         .pad_to_max_tokens = cfg.pad_to_max_tokens,
                         .sparse = cfg.sparse,
                         .encoding = cfg.encoding,
                         .vocabulary_size = cfg.vocabulary_size},
      LayerOptions{});
  if (cfg.vocabulary.is_string()) cfg.vocabulary = {};
  add_sublayer("_lookup_layer", lookup_);
}

LayerPtr TextVectorizationLayer::from_config(const Json& json, const ConfigContext& context) {
  refuse_vocabulary_path(json);
  return LayerOf::from_config(json, context);
}

Json TextVectorizationLayer::own_config() const {
  Json json = LayerOf::own_config();
  const Json frozen = lookup_->frozen_size();
  json["vocabulary_size"] = frozen.is_null() ? Json(vocabulary_size()) : frozen;
  return json;
}

LayerPtr TextVectorizationLayer::fresh_copy() const {
  auto copy = std::make_shared<TextVectorizationLayer>(fresh_config(), options());
  copy->lookup_->copy_vocabulary(*lookup_);
  return copy;
}

void TextVectorizationLayer::adapt(const std::vector<Tensor>& batches) {
  const ops::TextRules rules = attrs_of(cfg).rules();
  ops::Tokenizer tokenizer(rules);
  size_t batch = 0, row = 0;
  lookup_->learn([&](Tensor& document) {
    for (; batch < batches.size(); ++batch, row = 0) {
      Tensor texts = batches[batch];
      require(texts.defined() && texts.dtype() == DType::string,
              "TextVectorization: adapt expected strings, got ",
              texts.defined() ? text(texts.dtype(), texts.shape()) : "an empty tensor");
      if (texts.shape().rank() == 1 && !splits()) texts = texts.reshape({texts.count(), 1});
      const auto all = texts.data<std::string_view>();
      const auto rows = static_cast<size_t>(ops::text_rows(texts.shape(), splits()).count());
      if (row == rows) continue;
      const size_t size = all.size() / rows;
      const auto& tokens = tokenizer.tokens(all.subspan(size * row++, size));
      document = Tensor(DType::string, {static_cast<int64_t>(tokens.size())});
      std::copy(tokens.begin(), tokens.end(), document.data<std::string_view>().begin());
      return true;
    }
    return false;
  });
  mark_changed();
}

std::vector<std::string> TextVectorizationLayer::get_vocabulary(bool include_special_tokens) const {
  return lookup_->get_vocabulary(include_special_tokens);
}

void TextVectorizationLayer::set_vocabulary(const std::vector<std::string>& tokens,
                                            const std::vector<double>& idf_weights) {
  lookup_->set_vocabulary(tokens, idf_weights);
  mark_changed();
}

// How long the rows of indices are: as given, as texts that are not split have tokens, or as the
// data of a program has them. Unknown while a model is built.
int64_t TextVectorizationLayer::row_length(const Call& c, Value texts) const {
  if (cfg.output_sequence_length) return *cfg.output_sequence_length;
  const ops::TextAttrs attrs = attrs_of(cfg);
  require(splits() || texts.rank() > 0, "TextVectorization '", name(),
          "': without a split, expected rows of texts, got one text");
  if (!splits())
    return texts.shape().back() == unknown ? unknown
                                           : ops::token_count(attrs.ngrams, texts.shape().back());
  const auto longest = [rules = attrs.rules()](const Tensor& data) {
    return longest_row(data, rules);
  };
  return c.tracer().measure(texts, longest).value_or(unknown);
}

Results TextVectorizationLayer::call(const Call& c) const {
  const Value x = c.input();
  require(x.dtype() == DType::string, "TextVectorization '", name(), "': expected strings, got ",
          x.type());
  const bool one_hot = cfg.output_mode == "one_hot", counts = cfg.output_mode != "int" && !one_hot;
  ops::TextAttrs attrs = attrs_of(cfg);
  attrs.other = lookup_->oov_start();
  if (one_hot) attrs.empty = -1;
  if (counts)
    attrs.depth = lookup_->depth();
  else
    attrs.length = row_length(c, x);
  const auto [table, ids] = lookup_->sorted_table();
  const auto constant = [&](const Tensor& t) { return ops::constant(c.block(), t); };
  const Value out = back_to(ops::text_ids(on_host(x), constant(table), constant(ids), attrs), x);
  if (one_hot && splits()) return ops::one_hot(out, lookup_->depth(), DType::i64);
  if (one_hot) return encoded_categories(out, "one_hot", lookup_->depth(), DType::i64);
  if (!counts || cfg.output_mode == "count") return out;
  if (cfg.output_mode == "multi_hot") return ops::cast(out > 0.0, DType::i64);
  return ops::cast(out, DType::f32) * lookup_->idf_factors(c);
}

}  // namespace keratin
