#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

struct KERATIN_API AttentionConfig {
  bool use_scale = false;
  std::string score_mode = "dot";  // or concat
  double dropout = 0;
  std::optional<int64_t> seed = {};

  static constexpr std::string_view keras_name = "Attention";
  static constexpr auto call_arguments =
      arguments_of_call("inputs", "mask", "training", "return_attention_scores", "use_causal_mask");
  static constexpr auto fields = field_list(field("use_scale", &AttentionConfig::use_scale),
                                            field("score_mode", &AttentionConfig::score_mode),
                                            field("dropout", &AttentionConfig::dropout),
                                            field("seed", &AttentionConfig::seed));
};

struct KERATIN_API AdditiveAttentionConfig {
  bool use_scale = true;
  double dropout = 0;
  std::optional<int64_t> seed = {};

  static constexpr std::string_view keras_name = "AdditiveAttention";
  static constexpr auto call_arguments =
      arguments_of_call("inputs", "mask", "training", "return_attention_scores", "use_causal_mask");
  static constexpr auto fields = field_list(field("use_scale", &AdditiveAttentionConfig::use_scale),
                                            field("dropout", &AdditiveAttentionConfig::dropout),
                                            field("seed", &AdditiveAttentionConfig::seed));
};

// softmax(scores(query, key)) · value, called on a list [query, value] or [query, value, key], each
// [batch, time, features]. Masked values are ignored; the results of masked queries are 0. Call
// arguments: use_causal_mask, return_attention_scores.
template <class Derived, class Config>
class KERATIN_API AttentionOf : public LayerOf<Derived, Config> {
 public:
  AttentionOf(Config config, LayerOptions options);

  Results call(const Call& c) const override;
  Masks compute_mask(const Call& c, size_t outputs) const override;
  bool supports_masking() const override { return true; }
  bool takes_mask() const override { return true; }

 protected:
  using LayerOf<Derived, Config>::cfg;
  // [batch, queries, keys]
  virtual Value scores(const Call& c, Value query, Value key) const = 0;
  void check_list(size_t count) const;
  Variable scale_;

 private:
  Value weights_of(const Call& c, Value scores, Value mask) const;

  Variable seed_;
};

// query · keyᵀ (· scale), or concat_score_weight · Σ tanh((query + key) · scale).
class KERATIN_API AttentionLayer final : public AttentionOf<AttentionLayer, AttentionConfig> {
 public:
  AttentionLayer(AttentionConfig config, LayerOptions options);
  void build(const Shapes& inputs) override;

 private:
  Value scores(const Call& c, Value query, Value key) const override;

  Variable concat_score_weight_;
};

// Σ scale · tanh(query + key)
class KERATIN_API AdditiveAttentionLayer final
    : public AttentionOf<AdditiveAttentionLayer, AdditiveAttentionConfig> {
 public:
  using AttentionOf::AttentionOf;
  void build(const Shapes& inputs) override;

 private:
  Value scores(const Call& c, Value query, Value key) const override;
};

extern template class AttentionOf<AttentionLayer, AttentionConfig>;
extern template class AttentionOf<AdditiveAttentionLayer, AdditiveAttentionConfig>;

using Attention = Shared<AttentionLayer>;
using AdditiveAttention = Shared<AdditiveAttentionLayer>;

}  // namespace keratin
