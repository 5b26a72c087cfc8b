#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/shared_fields.h"

namespace keratin {

struct KERATIN_API MultiHeadAttentionConfig {
  int64_t num_heads = 0;
  int64_t key_dim = 0;
  std::optional<int64_t> value_dim = {};  // default: key_dim
  double dropout = 0;
  bool use_bias = true;
  bool use_gate = false;  // each head's result is multiplied by a sigmoid of the query
  std::optional<Sizes> output_shape = {};    // after the time axes; default: the query's features
  std::optional<Sizes> attention_axes = {};  // default: all between batch and features
  std::optional<int64_t> sliding_window =
      {};  // a query attends to keys less than this many steps away
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};  // of the outputs of each projection, not of the layer
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  std::optional<int64_t> seed = {};

  static constexpr std::string_view keras_name = "MultiHeadAttention";
  static constexpr auto fields =
      field_list(field("num_heads", &MultiHeadAttentionConfig::num_heads),
                 field("key_dim", &MultiHeadAttentionConfig::key_dim),
                 field("value_dim", &MultiHeadAttentionConfig::value_dim),
                 field("dropout", &MultiHeadAttentionConfig::dropout),
                 field("use_bias", &MultiHeadAttentionConfig::use_bias),
                 field("use_gate", &MultiHeadAttentionConfig::use_gate),
                 field("output_shape", &MultiHeadAttentionConfig::output_shape),
                 field("attention_axes", &MultiHeadAttentionConfig::attention_axes),
                 field("sliding_window", &MultiHeadAttentionConfig::sliding_window),
                 field("kernel_initializer", &MultiHeadAttentionConfig::kernel_initializer),
                 field("bias_initializer", &MultiHeadAttentionConfig::bias_initializer),
                 field("kernel_regularizer", &MultiHeadAttentionConfig::kernel_regularizer),
                 field("bias_regularizer", &MultiHeadAttentionConfig::bias_regularizer),
                 field("activity_regularizer", &MultiHeadAttentionConfig::activity_regularizer),
                 field("kernel_constraint", &MultiHeadAttentionConfig::kernel_constraint),
                 field("bias_constraint", &MultiHeadAttentionConfig::bias_constraint),
                 field("seed", &MultiHeadAttentionConfig::seed));
};

struct KERATIN_API GroupQueryAttentionConfig {
  int64_t head_dim = 0;
  int64_t num_query_heads = 0;
  int64_t num_key_value_heads = 0;  // each is shared by a group of query heads
  double dropout = 0;
  bool use_bias = true;
  bool use_gate = false;
  std::optional<int64_t> sliding_window = {};
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  std::optional<int64_t> seed = {};

  static constexpr std::string_view keras_name = "GroupQueryAttention";
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields =
      field_list(field("head_dim", &GroupQueryAttentionConfig::head_dim),
                 field("num_query_heads", &GroupQueryAttentionConfig::num_query_heads),
                 field("num_key_value_heads", &GroupQueryAttentionConfig::num_key_value_heads),
                 field("use_bias", &GroupQueryAttentionConfig::use_bias),
                 field("use_gate", &GroupQueryAttentionConfig::use_gate),
                 field("sliding_window", &GroupQueryAttentionConfig::sliding_window),
                 field("dropout", &GroupQueryAttentionConfig::dropout),
                 fields_of<KernelAndBiasFields>(), field("seed", &GroupQueryAttentionConfig::seed));
};

// Attention of several heads, each with its own projections: called as (query, value) or (query,
// value, key). The masks of these, `attention_mask` [batch, queries, keys] and `use_causal_mask`
// say which keys a query attends to. With `return_attention_scores`, the weights of all keys for
// all queries are a second output.
template <class Derived, class Config>
class KERATIN_API HeadAttentionOf : public LayerOf<Derived, Config> {
 public:
  Results call(const Call& c) const override;
  Masks compute_mask(const Call& c, size_t outputs) const override;
  bool supports_masking() const override { return true; }
  std::vector<std::string_view> call_arguments() const override {
    return {"query",
            "value",
            "key",
            "query_mask",
            "value_mask",
            "key_mask",
            "attention_mask",
            "return_attention_scores",
            "training",
            "use_causal_mask"};
  }

 protected:
  HeadAttentionOf(Config config, LayerOptions options);
  using LayerOf<Derived, Config>::cfg;

  struct Projection {
    const char* name;
    std::string equation, bias_axes;
    Dims output_shape;  // its last sizes
    Activation activation = "linear";
  };
  LayerPtr project(const Projection& projection, const Shape& input);
  void add_parts(std::string_view prefix, int64_t softmax_axes);
  virtual Regularizer penalty() const = 0;
  // True if `query_mask` is an argument that is used.
  virtual bool takes_query_mask() const = 0;

  LayerPtr query_, key_, gate_, value_, output_, softmax_, dropout_;
  std::string scores_equation_, result_equation_;  // of (key, query) and (scores, value)
  int64_t scores_rank_ = 4, attention_rank_ = 1, repeats_ = 1;
  double scale_ = 1;

 private:
  struct Attended {
    Value result, scores;
  };
  Value mask_of(const Call& c, bool causal) const;
  Attended attend(const Call& c, Value query, Value key, Value value) const;
};

// The heads' projections of queries and keys have key_dim features, those of values value_dim; the
// axes that attend may be several.
class KERATIN_API MultiHeadAttentionLayer final
    : public HeadAttentionOf<MultiHeadAttentionLayer, MultiHeadAttentionConfig> {
 public:
  MultiHeadAttentionLayer(MultiHeadAttentionConfig config, LayerOptions options);
  void build(const Shapes& inputs) override;

 private:
  Regularizer penalty() const override { return cfg.activity_regularizer; }
  bool takes_query_mask() const override { return false; }
  void set_equations(int64_t rank);
};

// Attention in which groups of query heads share key and value heads.
class KERATIN_API GroupQueryAttentionLayer final
    : public HeadAttentionOf<GroupQueryAttentionLayer, GroupQueryAttentionConfig> {
 public:
  GroupQueryAttentionLayer(GroupQueryAttentionConfig config, LayerOptions options);
  void build(const Shapes& inputs) override;

 private:
  Regularizer penalty() const override { return options().activity_regularizer; }
  bool takes_query_mask() const override { return true; }
};

extern template class HeadAttentionOf<MultiHeadAttentionLayer, MultiHeadAttentionConfig>;
extern template class HeadAttentionOf<GroupQueryAttentionLayer, GroupQueryAttentionConfig>;

using MultiHeadAttention = Shared<MultiHeadAttentionLayer>;
using GroupQueryAttention = Shared<GroupQueryAttentionLayer>;

}  // namespace keratin
