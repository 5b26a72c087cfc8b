#include "keratin/layers/multi_head_attention.h"

#include <algorithm>
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/graph/unique_name.h"
#include "keratin/layers/activations.h"
#include "keratin/layers/attention_masks.h"
#include "keratin/layers/dense.h"
#include "keratin/layers/dropout.h"
#include "keratin/ops/attention.h"
#include "keratin/ops/einsum.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin {
namespace {

// `count` letters of an einsum equation, from `first` on.
std::string letters(int64_t first, int64_t count) {
  std::string out;
  for (int64_t i = 0; i < count; ++i) out += static_cast<char>('a' + first + i);
  return out;
}

// Contracts the last `bound` axes into `made` new ones: "abc,cde->abde".
struct Mapping {
  std::string equation, made;
  Mapping(int64_t free, int64_t bound, int64_t count) : made(letters(free + bound, count)) {
    const std::string stay = letters(0, free), go = letters(free, bound);
    equation = stay + go + "," + go + made + "->" + stay + made;
  }
};

void require_positive(int64_t value, std::string_view argument) {
  require(value > 0, "Received an invalid value for argument `", argument,
          "`, expected a positive integer. Received: ", argument, "=", value);
}

void check_window(const std::optional<int64_t>& window) {
  require(!window || *window > 0,
          "`sliding_window` must be `None` or a positive integer. Received: sliding_window=",
          window.value_or(0));
}

struct Three {
  Shape query, value, key;
};
Three three_shapes(const Layer& layer, const Shapes& shapes) {
  require(shapes.size() == 2 || shapes.size() == 3, layer.class_name(), " '", layer.name(),
          "': expected a query, a value and perhaps a key, got ", shapes.size(), " tensors");
  const Shape &value = shapes[1], &key = shapes.back();
  const auto between = [](const Shape& s) { return Dims(s.begin() + 1, s.end() - 1); };
  require(value.rank() >= 2 && key.rank() == value.rank() &&
              compatible(Shape(between(value)), Shape(between(key))),
          "All dimensions of `value` and `key`, except the last one, must be equal. Received: "
          "value_shape=",
          keras_shape(value), " and key_shape=", keras_shape(key));
  return {shapes[0], value, key};
}

LayerOptions with_default_name(LayerOptions options) {
  // The name of Keras's class, which keras.layers exports as GroupQueryAttention.
  if (options.name.empty()) options.name = unique_name("grouped_query_attention");
  return options;
}

// The penalty applies to the projections only.
MultiHeadAttentionConfig with_penalty(MultiHeadAttentionConfig config,
                                      const LayerOptions& options) {
  if (options.activity_regularizer) config.activity_regularizer = options.activity_regularizer;
  return config;
}
LayerOptions without_penalty(LayerOptions options) {
  options.activity_regularizer = {};
  return options;
}

}  // namespace

template <class Derived, class Config>
HeadAttentionOf<Derived, Config>::HeadAttentionOf(Config config, LayerOptions options)
    : LayerOf<Derived, Config>(std::move(config), std::move(options)) {
  check_window(cfg.sliding_window);
}

template <class Derived, class Config>
LayerPtr HeadAttentionOf<Derived, Config>::project(const Projection& projection,
                                                   const Shape& input) {
  const auto count = static_cast<size_t>(projection.equation.size() -
                                         projection.equation.find('>') - 2);  // without the batch
  Json sizes = Json::array();
  for (size_t i = projection.output_shape.size(); i < count; ++i) sizes.push_back(Json());
  for (const int64_t size : projection.output_shape) sizes.push_back(size);
  EinsumDenseConfig config{
      .equation = projection.equation,
      .output_shape = OpenDims::from_json(sizes),
      .activation = projection.activation,
      .bias_axes = cfg.use_bias ? std::optional(projection.bias_axes) : std::nullopt,
      .kernel_initializer = cfg.kernel_initializer,
      .bias_initializer = cfg.bias_initializer,
      .kernel_regularizer = cfg.kernel_regularizer,
      .bias_regularizer = cfg.bias_regularizer,
      .kernel_constraint = cfg.kernel_constraint,
      .bias_constraint = cfg.bias_constraint};
  auto layer = std::make_shared<EinsumDenseLayer>(std::move(config),
                                                  LayerOptions{.name = projection.name,
                                                               .dtype = this->dtype_policy(),
                                                               .activity_regularizer = penalty()});
  layer->ensure_built({input});
  return layer;
}

// Files name the sublayers so, in this order.
template <class Derived, class Config>
void HeadAttentionOf<Derived, Config>::add_parts(std::string_view prefix, int64_t softmax_axes) {
  const LayerOptions options{.dtype = this->dtype_policy()};
  Dims axes;
  for (int64_t i = softmax_axes; i > 0; --i) axes.push_back(-i);
  softmax_ = std::make_shared<SoftmaxLayer>(
      SoftmaxConfig{.axis = axes.size() == 1 ? Sizes(axes[0]) : Sizes(axes)}, options);
  dropout_ =
      std::make_shared<DropoutLayer>(DropoutConfig{.rate = cfg.dropout, .seed = cfg.seed}, options);
  this->add_sublayer(text(prefix, "query_dense"), query_);
  this->add_sublayer(text(prefix, "key_dense"), key_);
  if (gate_) this->add_sublayer("_gate_dense", gate_);
  this->add_sublayer(text(prefix, "value_dense"), value_);
  this->add_sublayer("_softmax", softmax_);
  this->add_sublayer("_dropout_layer", dropout_);
  this->add_sublayer(text(prefix, "output_dense"), output_);
}

template <class Derived, class Config>
Results HeadAttentionOf<Derived, Config>::call(const Call& c) const {
  const Value query = c.tensor(0, "query"), value = c.tensor(1, "value");
  require(query.defined() && value.defined(), Config::keras_name, " '", this->name(),
          "': expected a query and a value");
  const Value key = c.tensor(2, "key").defined() ? c.tensor(2, "key") : value;
  const auto apply = [&](const LayerPtr& layer, Value x) {
    return c.invoke(*layer, Traced{x}).value;
  };
  const Value gate = cfg.use_gate ? apply(gate_, query) : Value();
  auto [result, scores] = attend(c, apply(query_, query), apply(key_, key), apply(value_, value));
  if (gate.defined()) result = result * gate;
  result = apply(output_, result);
  if (!scores.defined()) return result;
  return Results::List{result, scores};
}

template <class Derived, class Config>
auto HeadAttentionOf<Derived, Config>::attend(const Call& c, Value query, Value key,
                                              Value value) const -> Attended {
  const bool scores_too = c.flag("return_attention_scores", false);
  const bool causal = c.flag("use_causal_mask", false);
  const bool fused = c.dialect() != Dialect::keras2;  // SoftmaxLayer does what Keras 2 does
  if (fused && cfg.dropout == 0 && !scores_too && query.rank() == 4)
    return {ops::scaled_dot_product_attention(
                query, key, value, {.mask = mask_of(c, false), .scale = scale_, .causal = causal}),
            {}};
  if (repeats_ > 1) {
    key = ops::repeat(key, repeats_, 2);
    value = ops::repeat(value, repeats_, 2);
  }
  Traced scores{ops::einsum(scores_equation_, {key, query * scale_})};
  if (const Value mask = mask_of(c, causal); mask.defined()) scores.mask = mask;
  const Value shares = c.invoke(*softmax_, scores).value;
  const Value kept = cfg.dropout > 0 ? c.invoke(*dropout_, Traced{shares}).value : shares;
  return {ops::einsum(result_equation_, {kept, value}), scores_too ? shares : Value()};
}

// The conjunction of all masks, in a shape that broadcasts against the scores; undefined if there
// is none.
template <class Derived, class Config>
Value HeadAttentionOf<Derived, Config>::mask_of(const Call& c, bool causal) const {
  // The mask passed as an argument, or else the tensor's.
  const auto mask_for = [&](size_t i, std::string_view name, bool argument) -> Value {
    const Tree<Traced>&given = c.argument(name), &tensor = c.argument(i);
    if (argument && given.is_leaf()) return ops::cast(given.leaf().value, DType::boolean);
    const auto carried = tensor.is_leaf() ? tensor.leaf().mask : std::nullopt;
    return carried ? ops::cast(*carried, DType::boolean) : Value();
  };
  const Value query = c.tensor(0, "query"), value = c.tensor(1, "value");
  Value mask;
  if (const Value m = mask_for(0, "query_mask", takes_query_mask()); m.defined())
    mask = ops::expand_dims(m, -1);
  for (const auto& [i, name] : {std::pair<size_t, std::string_view>(1, "value_mask"),
                                std::pair<size_t, std::string_view>(2, "key_mask")})
    if (const Value m = mask_for(i, name, true); m.defined())
      mask = attention::both(mask, ops::expand_dims(m, -2));
  if (causal) mask = attention::both(mask, attention::causal_mask(query, value));
  if (cfg.sliding_window)
    mask = attention::both(mask, attention::window_mask(query, value, *cfg.sliding_window));
  if (const Tree<Traced>& given = c.argument("attention_mask"); given.is_leaf())
    mask = attention::both(ops::cast(given.leaf().value, DType::boolean), mask);
  if (!mask.defined()) return mask;
  while (mask.rank() < scores_rank_) mask = ops::expand_dims(mask, -2 * attention_rank_ - 1);
  return mask;
}

// The result has the query's mask; the scores have the mask that they were computed with.
template <class Derived, class Config>
Masks HeadAttentionOf<Derived, Config>::compute_mask(const Call& c, size_t outputs) const {
  Masks masks(outputs);
  masks[0] = c.mask();
  if (outputs == 1) return masks;
  if (const Value mask = mask_of(c, c.flag("use_causal_mask", false)); mask.defined())
    masks[1] = mask;
  return masks;
}

MultiHeadAttentionLayer::MultiHeadAttentionLayer(MultiHeadAttentionConfig config,
                                                 LayerOptions options)
    : HeadAttentionOf(with_penalty(std::move(config), options), without_penalty(options)) {
  require_positive(cfg.num_heads, "num_heads");
  require_positive(cfg.key_dim, "key_dim");
  if (!cfg.value_dim) cfg.value_dim = cfg.key_dim;
  require_positive(*cfg.value_dim, "value_dim");
  if (cfg.output_shape) cfg.output_shape = cfg.output_shape->dims();
  if (cfg.attention_axes) cfg.attention_axes = cfg.attention_axes->dims();
  scale_ = 1 / std::sqrt(static_cast<double>(cfg.key_dim));
}

void MultiHeadAttentionLayer::build(const Shapes& inputs) {
  const auto [query, value, key] = three_shapes(*this, inputs);
  const auto heads = [&](const char* name, const Shape& input, int64_t size,
                         const char* activation = "linear") {
    const Mapping mapping(input.rank() - 1, 1, 2);
    return project({name, mapping.equation, mapping.made, {cfg.num_heads, size}, activation},
                   input);
  };
  query_ = heads("query", query, cfg.key_dim);
  key_ = heads("key", key, cfg.key_dim);
  if (cfg.use_gate) gate_ = heads("gate", query, *cfg.value_dim, "sigmoid");
  value_ = heads("value", value, *cfg.value_dim);
  set_equations(value.rank() + 1);

  const Dims made = cfg.output_shape ? cfg.output_shape->dims() : Dims{query.back()};
  const Mapping mapping(query.rank() - 1, 2, static_cast<int64_t>(made.size()));
  Dims joined(query.begin(), query.end() - 1);
  joined.insert(joined.end(), {cfg.num_heads, *cfg.value_dim});
  output_ = project({"attention_output", mapping.equation, mapping.made, made}, Shape(joined));
  add_parts("", attention_rank_);
}

// Projections are [batch…, heads, features]. Attention axes have other letters in keys than in
// queries.
void MultiHeadAttentionLayer::set_equations(int64_t rank) {
  Dims axes;
  if (cfg.attention_axes) {
    for (const int64_t axis : cfg.attention_axes->dims())
      axes.push_back(axis >= 0 ? axis : rank - 1 + axis);
  } else {
    for (int64_t axis = 1; axis < rank - 2; ++axis) axes.push_back(axis);
  }
  for (const int64_t axis : axes)
    require(axis > 0 && axis < rank - 2, "MultiHeadAttention '", name(),
            "': `attention_axes` must lie between the batch and the features of inputs of rank ",
            rank - 1, ". Received: attention_axes=", Sizes(axes).to_json());
  cfg.attention_axes = axes;
  attention_rank_ = static_cast<int64_t>(axes.size());

  const std::string queries = letters(0, rank);
  std::string keys = queries, from, to, batch;
  for (int64_t i = 0; i + 1 < rank; ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) batch += queries[i];
  for (size_t i = 0; i < axes.size(); ++i) {
    const char letter = letters(rank + static_cast<int64_t>(i), 1)[0];
    keys[static_cast<size_t>(axes[i])] = letter;
    from += queries[static_cast<size_t>(axes[i])];
    to += letter;
  }
  const std::string scores = batch + from + to;
  scores_rank_ = static_cast<int64_t>(scores.size());
  scores_equation_ = keys + "," + queries + "->" + scores;
  result_equation_ = scores + "," + keys + "->" + queries;
}

GroupQueryAttentionLayer::GroupQueryAttentionLayer(GroupQueryAttentionConfig config,
                                                   LayerOptions options)
    : HeadAttentionOf(std::move(config), with_default_name(std::move(options))) {
  require_positive(cfg.head_dim, "head_dim");
  require_positive(cfg.num_query_heads, "num_query_heads");
  require_positive(cfg.num_key_value_heads, "num_key_value_heads");
  require(cfg.num_query_heads % cfg.num_key_value_heads == 0,
          "`num_query_heads` must be divisible by `num_key_value_heads`. Received: "
          "num_query_heads=",
          cfg.num_query_heads, ", num_key_value_heads=", cfg.num_key_value_heads);
  repeats_ = cfg.num_query_heads / cfg.num_key_value_heads;
  scale_ = 1 / std::sqrt(static_cast<double>(cfg.head_dim));
  scores_equation_ = "bkuh,bquh->buqk";
  result_equation_ = "buqk,bkuh->bquh";
}

void GroupQueryAttentionLayer::build(const Shapes& inputs) {
  const auto [query, value, key] = three_shapes(*this, inputs);
  const auto queries = [&, &query = query](const char* name, const char* activation) {
    return project({name, "bqm,muh->bquh", "uh", {cfg.num_query_heads, cfg.head_dim}, activation},
                   query);
  };
  const auto shared = [&](const char* name, const Shape& input) {
    return project({name, "bkm,mvh->bkvh", "vh", {cfg.num_key_value_heads, cfg.head_dim}}, input);
  };
  query_ = queries("query", "linear");
  key_ = shared("key", key);
  if (cfg.use_gate) gate_ = queries("gate", "sigmoid");
  value_ = shared("value", value);
  output_ = project({"attention_output", "bquh,uhm->bqm", "m", {query.back()}},
                    {query[0], query[1], cfg.num_query_heads, cfg.head_dim});
  add_parts("_", 1);
}

template class HeadAttentionOf<MultiHeadAttentionLayer, MultiHeadAttentionConfig>;
template class HeadAttentionOf<GroupQueryAttentionLayer, GroupQueryAttentionConfig>;

}  // namespace keratin
