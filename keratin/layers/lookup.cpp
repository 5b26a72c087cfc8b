#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <unordered_set>

#include "keratin/base/text.h"
#include "keratin/layers/categories.h"
#include "keratin/layers/preprocessing.h"
#include "keratin/layers/salt.h"
#include "keratin/layers/vocabulary.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/lookup.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"

// What StringLookup and IntegerLookup share: the rules, the vocabulary and the call.
namespace keratin {
namespace {

std::string mode_of_today(const std::string& mode) {
  if (mode == "binary") return "multi_hot";
  return mode == "tf-idf" ? "tf_idf" : mode;
}

void check_rules(std::string_view who, const LookupRules& rules) {
  require(!rules.max_tokens || *rules.max_tokens > 1,
          "If set, `max_tokens` must be greater than 1. Received: max_tokens=",
          rules.max_tokens.value_or(0));
  require(!rules.pad_to_max_tokens || rules.max_tokens,
          "If pad_to_max_tokens is True, must set `max_tokens`. Received: max_tokens=None");
  require(rules.num_oov_indices >= 0,
          "`num_oov_indices` must be greater than or equal to 0. Received: num_oov_indices=",
          rules.num_oov_indices);
  check_choice(who, "oov_method", rules.oov_method, {"floormod", "farmhash"});
  require(rules.salt.is_null() || rules.dtype == DType::string || rules.oov_method == "farmhash",
          "`salt` can only be used when `oov_method='farmhash'`. Received: oov_method=",
          rules.oov_method);
  salted(1, rules.salt, "IndexLookup");
  const std::string& mode = rules.output_mode;
  check_choice(who, "output_mode", mode, {"int", "one_hot", "multi_hot", "count", "tf_idf"});
  require(!rules.invert || mode == "int",
          "`output_mode` must be `'int'` when `invert` is true. Received: output_mode=", mode);
  require(!rules.sparse || mode != "int",
          "`sparse` may only be true if `output_mode` is `'one_hot'`, `'multi_hot'`, `'count'` or "
          "`'tf_idf'`. Received: sparse=True and output_mode=int");
  require(rules.idf_weights.is_null() || mode == "tf_idf",
          "`idf_weights` should only be set if `output_mode` is `'tf_idf'`. Received: idf_weights=",
          rules.idf_weights, " and output_mode=", mode);
}

// The elements of a tensor of strings or integers, as one type that has an order.
template <class F>
decltype(auto) with_tokens(const Tensor& tokens, F&& f) {
  if (tokens.dtype() == DType::string) return f(tokens.data<std::string_view>());
  return f(tokens.data<int64_t>());
}

bool contains(const Tensor& tokens, const Tensor& one) {
  return with_tokens(tokens, [&](auto all) {
    return std::find(all.begin(), all.end(), *static_cast<decltype(all.data())>(one.raw())) !=
           all.end();
  });
}

// A tensor of the elements at some positions.
Tensor picked(const Tensor& tokens, const std::vector<int64_t>& positions) {
  return with_tokens(tokens, [&](auto all) {
    std::vector<std::remove_cvref_t<decltype(all[0])>> out;
    for (const int64_t i : positions) out.push_back(all[static_cast<size_t>(i)]);
    Tensor tensor(tokens.dtype(), {static_cast<int64_t>(out.size())});
    std::copy(out.begin(), out.end(), static_cast<decltype(out.data())>(tensor.raw()));
    return tensor.own_strings();
  });
}

Tensor part(const Tensor& tokens, int64_t first, int64_t end) {
  std::vector<int64_t> positions(static_cast<size_t>(std::max<int64_t>(0, end - first)));
  std::iota(positions.begin(), positions.end(), first);
  return picked(tokens, positions);
}

Tensor joined_tokens(const Tensor& a, const Tensor& b) {
  return with_tokens(a, [&](auto first) {
    auto second = static_cast<decltype(first.data())>(b.raw());
    Tensor all(a.dtype(), {a.count() + b.count()});
    auto* out = static_cast<decltype(first.data())>(all.raw());
    std::copy_n(second, b.count(), std::copy(first.begin(), first.end(), out));
    return all.own_strings();
  });
}

// Positions in the order of the elements.
std::vector<int64_t> sorted_positions(const Tensor& tokens) {
  std::vector<int64_t> positions(static_cast<size_t>(tokens.count()));
  std::iota(positions.begin(), positions.end(), 0);
  with_tokens(tokens, [&](auto all) {
    std::sort(positions.begin(), positions.end(), [&](int64_t a, int64_t b) {
      return all[static_cast<size_t>(a)] < all[static_cast<size_t>(b)];
    });
  });
  return positions;
}

std::string message_text(std::string_view token) { return shown_token(token); }
std::string message_text(int64_t token) { return std::to_string(token); }

// The elements that are there more than once, as Python lists them.
std::string repeated(const Tensor& tokens) {
  const std::vector<int64_t> order = sorted_positions(tokens);
  return with_tokens(tokens, [&](auto all) {
    std::string list;
    for (size_t i = 1; i < order.size(); ++i) {
      const auto &now = all[static_cast<size_t>(order[i])],
                 &before = all[static_cast<size_t>(order[i - 1])];
      const bool first = i < 2 || all[static_cast<size_t>(order[i - 2])] != before;
      if (now != before || !first) continue;
      if (list.size() > 200) return list + ", …";
      list += text(list.empty() ? "" : ", ", message_text(now));
    }
    return list;
  });
}

}  // namespace

Tensor LookupLayer::special(const Json& token) const {
  if (rules_.dtype == DType::string)
    return Tensor(std::vector<std::string>{token.is_null() ? std::string() : token.as_string()});
  return Tensor::of(DType::i64, {1}, std::vector<int64_t>{token.is_null() ? -1 : token.as_int()});
}

int64_t LookupLayer::oov_start() const {
  return !rules_.mask_token.is_null() && rules_.output_mode == "int" ? 1 : 0;
}

Tensor LookupLayer::special_tokens() const {
  std::vector<int64_t> positions(static_cast<size_t>(token_start()), 1);
  if (oov_start() == 1) positions[0] = 0;
  return picked(joined_tokens(special(rules_.mask_token), special(rules_.oov_token)), positions);
}

void LookupLayer::start(LookupRules rules, const Json& vocabulary, const Json& vocabulary_size) {
  rules.output_mode = mode_of_today(rules.output_mode);
  rules_ = std::move(rules);
  check_rules(class_name(), rules_);
  tokens_ = Tensor(rules_.dtype, {0});
  special(rules_.mask_token);  // an error if they are of another kind
  special(rules_.oov_token);
  constexpr int64_t max_oov = 1 << 24;
  require(rules_.num_oov_indices <= max_oov, class_name(), ": `num_oov_indices` must be at most ",
          max_oov, ", got ", rules_.num_oov_indices);
  constexpr size_t max_bytes = 1 << 30;
  const size_t token = rules_.oov_token.is_string() ? rules_.oov_token.as_string().size() : 0;
  require(static_cast<size_t>(rules_.num_oov_indices) * token <= max_bytes, class_name(),
          ": `num_oov_indices` times an `oov_token` of ", token, " bytes must be at most ",
          max_bytes, " bytes, got ", rules_.num_oov_indices);
  if (vocabulary_size.is_int()) frozen_size_ = vocabulary_size.as_int();
  require(frozen_size_.value_or(0) >= 0, class_name(),
          ": `vocabulary_size` must not be negative, got ", vocabulary_size);
  if (vocabulary.is_null()) return;
  require(rules_.output_mode != "tf_idf" || !rules_.idf_weights.is_null(),
          "When specifying the `vocabulary` argument, in TF-IDF output mode, the `idf_weights` "
          "argument must also be provided.");
  has_file_ = vocabulary.is_string();
  std::vector<double> weights;
  if (!rules_.idf_weights.is_null())
    config::read(rules_.idf_weights, weights, ConfigContext{.make_layer = {}});
  set_vocabulary(has_file_ ? vocabulary_file(vocabulary.as_string(), rules_.dtype)
                           : vocabulary_from_json(vocabulary, rules_.dtype),
                 weights);
  given_ = true;
}

void LookupLayer::copy_vocabulary(const LookupLayer& other) {
  tokens_ = other.tokens_;
  idf_weights_ = other.idf_weights_;
  frozen_size_ = other.frozen_size_;
  given_ = other.given_;
  has_file_ = other.has_file_;
}

int64_t LookupLayer::vocabulary_size() const { return tokens_.count() + token_start(); }

Json LookupLayer::frozen_size() const { return frozen_size_ ? Json(*frozen_size_) : Json(); }

void LookupLayer::freeze() {
  const int64_t size = vocabulary_size();
  const bool open = rules_.output_mode == "int" || rules_.pad_to_max_tokens;
  require(open || !frozen_size_ || *frozen_size_ == size,
          "When using `output_mode=", rules_.output_mode,
          "` and `pad_to_max_tokens=False`, the vocabulary size cannot be changed after the layer "
          "is called. Old vocab size is ",
          frozen_size_.value_or(0), ", new vocab size is ", size);
  frozen_size_ = size;
  mark_changed();
}

Tensor LookupLayer::vocabulary(bool include_special_tokens) const {
  return include_special_tokens ? joined_tokens(special_tokens(), tokens_) : tokens_.clone();
}

void LookupLayer::set_vocabulary(const Tensor& tokens, const std::vector<double>& idf_weights) {
  const bool weighted = rules_.output_mode == "tf_idf";
  require(weighted || idf_weights.empty(),
          "`idf_weights` should only be set if output_mode is `'tf_idf'`. Received: output_mode=",
          rules_.output_mode, " and idf_weights=", config::write(idf_weights));
  require(!weighted || !idf_weights.empty(),
          "`idf_weights` must be set if output_mode is 'tf_idf'.");
  require(tokens.defined() && tokens.dtype() == rules_.dtype && tokens.shape().rank() == 1,
          class_name(), ": expected a vocabulary of shape [n] and dtype ", rules_.dtype, ", got ",
          tokens.defined() ? text(tokens.dtype(), tokens.shape()) : "an empty tensor");
  require(tokens.count() > 0, "Cannot set an empty vocabulary. Received: vocabulary=[]");
  const int64_t start = token_start();
  const bool has_special = tokens.count() >= start && part(tokens, 0, start) == special_tokens();
  const Tensor own = has_special ? part(tokens, start, tokens.count()) : tokens.own_strings();
  const std::string twice = repeated(own);
  require(twice.empty(),
          "The passed vocabulary has at least one repeated term. Please uniquify your dataset. The "
          "repeated terms are: [",
          twice, "]");
  const auto check_reserved = [&](const char* kind, const Json& token, bool reserved) {
    require(!reserved || token.is_null() || !contains(own, special(token)), "Found reserved ", kind,
            " token at unexpected location in `vocabulary`. Note that passed `vocabulary` does not "
            "need to include the OOV and mask tokens. Either remove all mask and OOV tokens, or "
            "include them only at the start of the vocabulary in precisely this order: mask_token=",
            rules_.mask_token, ", ", rules_.num_oov_indices, " times oov_token=", rules_.oov_token);
  };
  check_reserved("mask", rules_.mask_token, true);
  check_reserved("OOV", rules_.oov_token, rules_.invert);
  const int64_t size = start + own.count();
  require(size <= rules_.max_tokens.value_or(size),
          "Attempted to set a vocabulary larger than the maximum vocab size. Received vocabulary "
          "size is ",
          size, "; `max_tokens` is ", rules_.max_tokens.value_or(0), ".");
  require(!weighted || static_cast<int64_t>(idf_weights.size()) == tokens.count(),
          "`idf_weights` must be the same length as vocabulary. len(idf_weights) is ",
          idf_weights.size(), "; len(vocabulary) is ", tokens.count());
  const Tensor before = std::exchange(tokens_, own);
  try {
    freeze();
  } catch (...) {
    tokens_ = before;
    throw;
  }
  if (weighted) set_weights_of_tokens(idf_weights, has_special);
}

// In front the mean of all, for tokens without a weight.
void LookupLayer::set_weights_of_tokens(const std::vector<double>& weights, bool has_special) {
  const double mean = weights.empty() ? std::nan("")
                                      : std::accumulate(weights.begin(), weights.end(), 0.0) /
                                            static_cast<double>(weights.size());
  idf_weights_.assign(has_special ? 0 : static_cast<size_t>(token_start()),
                      static_cast<float>(mean));
  for (const double weight : weights) idf_weights_.push_back(static_cast<float>(weight));
}

Tensor LookupLayer::padded_weights() const {
  constexpr int64_t max_weights = int64_t{1} << 26;
  require(depth() <= max_weights, class_name(), ": expected at most ", max_weights,
          " idf weights, got ", depth());
  Tensor padded = Tensor::zeros(DType::f32, {depth()});
  const size_t count = std::min(idf_weights_.size(), padded.data<float>().size());
  std::copy_n(idf_weights_.begin(), count, padded.data<float>().begin());
  return padded;
}

int64_t LookupLayer::depth() const {
  if (rules_.pad_to_max_tokens) return *rules_.max_tokens;
  require(frozen_size_.has_value(), "When using `output_mode=", rules_.output_mode,
          "` and `pad_to_max_tokens=False`, you must set the layer's vocabulary before calling it. "
          "Either pass a `vocabulary` argument to the layer, or call `adapt` with some sample "
          "data.");
  return *frozen_size_;
}

std::pair<Tensor, Tensor> LookupLayer::sorted_table() const {
  const bool masks = !rules_.mask_token.is_null();
  const Tensor all = masks ? joined_tokens(tokens_, special(rules_.mask_token)) : tokens_;
  const std::vector<int64_t> order = sorted_positions(all);
  std::vector<int64_t> indices;
  for (const int64_t i : order) {
    // Outside of "int", a mask is at no index.
    const bool mask = i == tokens_.count();
    indices.push_back(!mask ? i + token_start() : rules_.output_mode == "int" ? 0 : -1);
  }
  return {picked(all, order),
          Tensor::of(DType::i64, {static_cast<int64_t>(indices.size())}, indices)};
}

Value LookupLayer::indices_of(Value tokens) const {
  if (rules_.dtype == DType::i64) tokens = ops::cast(tokens, DType::i64);
  require(tokens.dtype() == rules_.dtype, class_name(), ": expected strings, got ", tokens.type());
  Block& block = tokens.block();
  const auto [table, indices] = sorted_table();
  const int64_t oov = rules_.num_oov_indices;
  const Value found = ops::lookup(tokens, ops::constant(block, table), {.must_be_there = oov == 0});
  // Index 0 is for what is not there.
  const Tensor unknown_index = Tensor::of(DType::i64, {1}, std::vector<int64_t>{oov_start()});
  const Value index = ops::take(ops::constant(block, joined_tokens(unknown_index, indices)),
                                found + ops::scalar_like(found, 1), 0);
  if (oov < 2) return index;
  const bool modulo = rules_.dtype == DType::i64 && rules_.oov_method != "farmhash";
  const Value bucket = modulo ? ops::mod(tokens, ops::scalar_like(tokens, static_cast<double>(oov)))
                              : ops::hash_bucket(tokens, salted(oov, rules_.salt, "IndexLookup"));
  return ops::where(found < 0.0,
                    bucket + ops::scalar_like(bucket, static_cast<double>(oov_start())), index);
}

// Unknown indices are the OOV token's.
Value LookupLayer::tokens_of(Value indices) const {
  const Value x = ops::cast(indices, DType::i64);
  const auto number = [&](int64_t n) { return ops::scalar_like(x, static_cast<double>(n)); };
  const int64_t start = token_start(), count = tokens_.count();
  const Value known = (x >= number(start)) & (x < number(start + count));
  Value row = ops::where(known, x + number(1 - start), number(0));
  Tensor table = joined_tokens(special(rules_.oov_token), tokens_);
  if (!rules_.mask_token.is_null()) {
    table = joined_tokens(table, special(rules_.mask_token));
    row = ops::where(ops::equal(x, number(0)), number(count + 1), row);
  }
  return ops::take(ops::constant(x.block(), table), row, 0);
}

Value LookupLayer::looked_up(Value x) const {
  const Value local = on_host(x);
  return back_to(rules_.invert ? tokens_of(local) : indices_of(local), x);
}

Value LookupLayer::encoded(Value indices, const Call& c) const {
  const std::string& mode = rules_.output_mode;
  if (mode == "int") return indices;
  if (mode != "tf_idf") return encoded_categories(indices, mode, depth(), DType::i64);
  return encoded_categories(indices, "count", depth(), DType::f32) * idf_factors(c);
}

Value LookupLayer::idf_factors(const Call& c) const {
  require(!idf_weights_.empty() || tokens_.count() == 0,
          "When `output_mode` is `'tf_idf'`, `idf_weights` must be provided.");
  return ops::constant(c.block(), padded_weights());
}

LayerAssets LookupLayer::assets() const {
  LayerAssets out;
  if (rules_.output_mode == "tf_idf" && !idf_weights_.empty())
    out.tensors["idf_weights"] = padded_weights();
  if (!given_ || has_file_) out.files["vocabulary.txt"] = vocabulary_text(vocabulary());
  return out;
}

LayerAssets LookupLayer::expected_assets() const {
  LayerAssets out;
  if (rules_.output_mode == "tf_idf") out.tensors["idf_weights"] = {};
  if (!given_ || has_file_) out.files["vocabulary.txt"] = {};
  return out;
}

void LookupLayer::load_assets(const LayerAssets& assets) {
  std::vector<double> weights;
  if (const auto found = assets.tensors.find("idf_weights"); found != assets.tensors.end()) {
    // With a vocabulary in the config, there are as many as the config has.
    const Shape& shape = found->second.shape();
    require(shape.rank() == 1 && (idf_weights_.empty() || shape[0] == depth()), class_name(),
            ": expected idf_weights of shape [",
            idf_weights_.empty() ? "n" : std::to_string(depth()), "], got ", shape);
    weights = found->second.to_vector();
    idf_weights_ = found->second.to_vector<float>();
  }
  const auto file = assets.files.find("vocabulary.txt");
  if (file == assets.files.end()) return;
  const Tensor tokens = vocabulary_from_text(file->second, rules_.dtype);
  if (tokens.count() == 0) return;
  weights.resize(std::min(weights.size(), static_cast<size_t>(tokens.count())));
  set_vocabulary(tokens, weights);
}

}  // namespace keratin
