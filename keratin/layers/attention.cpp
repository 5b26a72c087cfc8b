#include "keratin/layers/attention.h"

#include "keratin/base/text.h"
#include "keratin/layers/attention_masks.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/random.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/softmax.h"

namespace keratin {
namespace {

// tanh(query + key) of all pairs: [batch, queries, keys, features].
Value pairs(Value query, Value key) {
  return ops::expand_dims(query, -2) + ops::expand_dims(key, -3);
}

Value as_bool(const std::optional<Value>& mask) {
  return mask ? ops::cast(*mask, DType::boolean) : Value();
}

}  // namespace

template <class Derived, class Config>
AttentionOf<Derived, Config>::AttentionOf(Config config, LayerOptions options)
    : LayerOf<Derived, Config>(std::move(config), std::move(options)) {
  this->set_min_masks(2);  // the key's mask is not read
  require(cfg.dropout >= 0 && cfg.dropout < 1, Config::keras_name,
          ": dropout must lie in [0, 1), got ", cfg.dropout);
  if (cfg.dropout > 0) seed_ = this->add_seed(cfg.seed);
}

template <class Derived, class Config>
void AttentionOf<Derived, Config>::check_list(size_t count) const {
  require(count == 2 || count == 3, Config::keras_name,
          " layer accepts inputs list of length 2 or 3, namely [query, value] or [query, value, "
          "key]. Received length: ",
          count, ".");
}

template <class Derived, class Config>
Results AttentionOf<Derived, Config>::call(const Call& c) const {
  require(c.argument(0).is_list(), Config::keras_name,
          " layer must be called on a list of inputs, namely [query, value] or [query, value, "
          "key]. Received: ",
          c.argument(0).outline());
  const Values inputs = c.inputs();
  check_list(inputs.size());
  const Value query = inputs[0], value = inputs[1], key = inputs.back();
  const Masks masks = c.masks();

  Value mask;
  if (masks[1]) mask = ops::expand_dims(as_bool(masks[1]), -2);
  if (c.flag("use_causal_mask", false))
    mask = attention::both(mask, attention::causal_mask(query, key));
  const Value weights = weights_of(c, scores(c, query, key), mask);
  const Value kept =
      c.training() && cfg.dropout > 0
          ? ops::dropout(weights,
                         c.random_key(seed_, weights.shape().known() ? weights.shape().count() : 0),
                         cfg.dropout)
          : weights;
  Value y = ops::matmul(kept, value);
  if (masks[0]) y = ops::where(ops::expand_dims(as_bool(masks[0]), -1), y, ops::scalar_like(y, 0));
  if (!c.flag("return_attention_scores", false)) return y;
  return Results::List{y, kept};
}

// Lowers masked scores so much that they vanish in the softmax. They keep their order, which
// decides where all scores are masked.
template <class Derived, class Config>
Value AttentionOf<Derived, Config>::weights_of(const Call&, Value scores, Value mask) const {
  if (mask.defined())
    scores = ops::where(mask, scores, scores - (scores.dtype() == DType::f16 ? 65504.0 : 1e9));
  return ops::softmax(scores, -1);
}

template <class Derived, class Config>
Masks AttentionOf<Derived, Config>::compute_mask(const Call& c, size_t outputs) const {
  Masks masks(outputs);
  masks[0] = c.mask();
  return masks;
}

AttentionLayer::AttentionLayer(AttentionConfig config, LayerOptions options)
    : AttentionOf(std::move(config), std::move(options)) {
  require(cfg.score_mode == "dot" || cfg.score_mode == "concat",
          "Invalid value for argument score_mode. Expected one of {'dot', 'concat'}. Received: "
          "score_mode=",
          cfg.score_mode);
}

void AttentionLayer::build(const Shapes& inputs) {
  check_list(inputs.size());
  if (cfg.use_scale) scale_ = add_weight("scale", {}, "ones");
  if (cfg.score_mode == "concat")
    concat_score_weight_ = add_weight("concat_score_weight", {}, "ones");
}

Value AttentionLayer::scores(const Call& c, Value query, Value key) const {
  if (cfg.score_mode == "dot") {
    const Value dots = ops::matmul(query, key, {.transpose_b = true});
    return cfg.use_scale ? dots * c.read(scale_) : dots;
  }
  Value sums = pairs(query, key);
  if (cfg.use_scale) sums = sums * c.read(scale_);
  return ops::sum(ops::tanh(sums), {-1}) * c.read(concat_score_weight_);
}

void AdditiveAttentionLayer::build(const Shapes& inputs) {
  check_list(inputs.size());
  const int64_t features = inputs[0].rank() == 0 ? unknown : inputs[0].back();
  require(features != unknown, "AdditiveAttention '", name(),
          "': the last dimension of the query must be known, got shape ", keras_shape(inputs[0]));
  if (cfg.use_scale) scale_ = add_weight("scale", {features}, "glorot_uniform");
}

Value AdditiveAttentionLayer::scores(const Call& c, Value query, Value key) const {
  const Value sums = ops::tanh(pairs(query, key));
  return ops::sum(cfg.use_scale ? sums * c.read(scale_) : sums, {-1});
}

template class AttentionOf<AttentionLayer, AttentionConfig>;
template class AttentionOf<AdditiveAttentionLayer, AdditiveAttentionConfig>;

}  // namespace keratin
